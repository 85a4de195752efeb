import { resolve } from "node:path";
import * as z from "zod";
import { defineTool, readCommand } from "./define-tool.js";
import { failureText } from "./files/file-problem.js";
import { Glob, limitArgument, StartPath, type RipgrepLines, ripgrepLines } from "./search/ripgrep.js";
import { type FoundLink, linksIn } from "./search/links-in.js";

const defaultLimit = 300;

const ListFilesArguments = z.strictObject({ path: StartPath, glob: Glob, limit: limitArgument(defaultLimit) });

export const listFiles = defineTool({
  name: "list_files",
  description:
    "Lists the files in a folder and its subfolders, sorted, one path per line, without those ignored by " +
    ".gitignore. A symbolic link is shown as `path -> target` and not followed.",
  parameters: ListFilesArguments,
  readOnly: true,
  readsOutside: false,
  command: (args, scope) => readCommand("list_files", args, scope),
  run: async ({ path = ".", glob, limit = defaultLimit }, context) => {
    try {
      const files = await ripgrepLines({ path, glob, args: ["--files"], maxLines: limit }, context);
      const { lines, isCut } = merged(files, await linksIn(path, glob, context), limit);
      if (lines.length === 0) return "[No files found.]";
      return [...lines, ...(isCut ? ["[There are more files: narrow the search with a folder or a glob.]"] : [])].join(
        "\n",
      );
    } catch (error) {
      return { content: `cannot list ${resolve(context.cwd, path)}: ${failureText(error)}`, success: false };
    }
  },
});

/**
 * Merges in path order, folder by folder. If the list of files was cut, leaves out links that sort after its last file.
 */
function merged({ lines, isCut }: RipgrepLines, links: readonly FoundLink[], limit: number): RipgrepLines {
  const last = lines.at(-1);
  const seen = isCut && last !== undefined ? links.filter(({ path }) => byPath(path, last) < 0) : links;
  const all = [...lines.map((line) => ({ path: line, line })), ...seen].toSorted((a, b) => byPath(a.path, b.path));
  return { lines: all.slice(0, limit).map(({ line }) => line), isCut: isCut || all.length > limit };
}

function byPath(one: string, other: string): number {
  const [a, b] = [one, other].map((path) => path.replaceAll("/", "\0"));
  return (a ?? "") < (b ?? "") ? -1 : 1;
}
