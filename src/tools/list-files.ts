import { resolve } from "node:path";
import * as z from "zod";
import { defineTool } from "./define-tool.js";
import { failureWords } from "./failure-words.js";
import { Glob, limitOf, StartPath } from "./search/arguments.js";
import { ripgrepLines } from "./search/ripgrep.js";

const usualLimit = 300;

const ListFilesArguments = z.strictObject({ path: StartPath, glob: Glob, limit: limitOf(usualLimit) });

export const listFiles = defineTool({
  name: "list_files",
  description:
    "Gives the paths of the files in a folder and all folders in it, sorted, one on a line; without those that " +
    ".gitignore names.",
  parameters: ListFilesArguments,
  readOnly: true,
  run: async ({ path = ".", glob, limit = usualLimit }, context) => {
    try {
      const { lines, isCut } = await ripgrepLines({ path, glob, args: ["--files"], maxLines: limit }, context);
      if (lines.length === 0) return "[There are no such files.]";
      return [...lines, ...(isCut ? ["[There are more files: name a folder or a glob.]"] : [])].join("\n");
    } catch (error) {
      return { content: `cannot list ${resolve(context.cwd, path)}: ${failureWords(error)}`, success: false };
    }
  },
});
