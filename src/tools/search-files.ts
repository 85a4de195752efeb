import { resolve } from "node:path";
import * as z from "zod";
import { ArgumentText, defineTool, readCommand } from "./define-tool.js";
import { failureText } from "./files/file-problem.js";
import { Glob, limitArgument, StartPath, ripgrepLines } from "./search/ripgrep.js";

const defaultLimit = 100;
const maxContext = 20;
const maxPatternChars = 5_000;
const maxColumns = 400;

const SearchFilesArguments = z.strictObject({
  pattern: ArgumentText.min(1).max(maxPatternChars).describe("A regular expression, matched within lines"),
  literal: z.boolean().optional().describe("Treat the pattern as plain text instead of a regular expression"),
  ignore_case: z.boolean().optional(),
  path: StartPath,
  glob: Glob,
  context: z.int().min(0).max(maxContext).optional().describe("Number of context lines around each match"),
  limit: limitArgument(defaultLimit),
});
type SearchFilesArguments = z.infer<typeof SearchFilesArguments>;

export const searchFiles = defineTool({
  name: "search_files",
  description:
    "Searches the text of files and returns matching lines as path:line:text. Files ignored by .gitignore and " +
    "binary files are not searched.",
  parameters: SearchFilesArguments,
  readOnly: true,
  readsOutside: false,
  command: (args, scope) => readCommand("search_files", args, scope),
  run: async (args, context) => {
    const { path = ".", glob, limit = defaultLimit } = args;
    try {
      const { lines, isCut } = await ripgrepLines({ path, glob, args: flagsOf(args), maxLines: limit }, context);
      if (lines.length === 0) return isCut ? "[The matching lines are too long.]" : "[No line matches.]";
      return [
        ...lines,
        ...(isCut ? ["[There are more matches: narrow the search with a folder, a glob or a longer pattern.]"] : []),
      ].join("\n");
    } catch (error) {
      return { content: `cannot search ${resolve(context.cwd, path)}: ${failureText(error)}`, success: false };
    }
  },
});

/** Each flag is joined with its value, so that a pattern cannot be taken for another flag. */
function flagsOf({ pattern, literal = false, ignore_case = false, context = 0 }: SearchFilesArguments): string[] {
  return [
    "--line-number",
    "--with-filename",
    "--no-heading",
    `--max-columns=${maxColumns}`,
    "--max-columns-preview",
    `--context=${context}`,
    ...(literal ? ["--fixed-strings"] : []),
    ...(ignore_case ? ["--ignore-case"] : []),
    `--regexp=${pattern}`,
  ];
}
