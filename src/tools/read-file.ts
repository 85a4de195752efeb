import { resolve } from "node:path";
import * as z from "zod";
import { PathArgument } from "./argument-text.js";
import { defineTool } from "./define-tool.js";
import { failureText } from "./failure-words.js";
import { stampOf } from "./files/file-stamps.js";
import { openForModel } from "./files/open-for-model.js";
import { type ExcerptRange, maxExcerptBytes, maxExcerptLines, readExcerpt } from "./files/text-excerpt.js";
import type { ToolContext } from "./tool.js";

const ReadFileArguments = z.strictObject({
  path: PathArgument,
  offset: z.int().min(1).optional().describe("The first line to return; the first line of the file is 1"),
  limit: z.int().min(1).max(maxExcerptLines).optional().describe("Maximum number of lines to return"),
});

export const readFile = defineTool({
  name: "read_file",
  description:
    `Returns the text of a file, at most ${maxExcerptLines} lines and ${maxExcerptBytes} bytes at a time; a note at the end ` +
    "says which lines were returned if there are more.",
  parameters: ReadFileArguments,
  readOnly: true,
  readsOutside: false,
  run: async ({ path, offset = 1, limit = maxExcerptLines }, context) => {
    const absolute = resolve(context.cwd, path);
    try {
      return await readLines(absolute, { offset, limit }, context);
    } catch (error) {
      return { content: `cannot read ${absolute}: ${failureText(error)}`, success: false };
    }
  },
});

async function readLines(path: string, range: ExcerptRange, context: ToolContext): Promise<string> {
  const { file, realPath, stats } = await openForModel(path, context);
  try {
    await context.noteRead?.(realPath);
    const text = await readExcerpt(file, Number(stats.size), range, context.signal);
    context.stamps.set(realPath, stampOf(stats));
    return text;
  } finally {
    await file.close();
  }
}
