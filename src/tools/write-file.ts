import type { BigIntStats } from "node:fs";
import { resolve } from "node:path";
import * as z from "zod";
import { PathArgument, defineTool } from "./define-tool.js";
import { failureText, FileProblem, targetChanged } from "./files/file-problem.js";
import { stampOf } from "./files/file-stamps.js";
import { openFolder } from "./files/open-folder.js";
import { replaceFile } from "./files/replace-file.js";
import type { ToolContext, ToolScope } from "./tool.js";
import { writeTarget } from "./policy/target-paths.js";
import { counted } from "../base/text/counted.js";

const maxContentBytes = 10_000_000;

const WriteFileArguments = z.strictObject({
  path: PathArgument,
  content: z
    .string()
    .refine(
      (content) => Buffer.byteLength(content) <= maxContentBytes,
      `must not be longer than ${maxContentBytes} bytes`,
    )
    .describe("The complete new content"),
});
type WriteFileArguments = z.infer<typeof WriteFileArguments>;

export const writeFile = defineTool({
  name: "write_file",
  description:
    "Writes a whole file and replaces its old content; missing folders are created. A file that changed " +
    "since it was read is not overwritten: read it again first.",
  parameters: WriteFileArguments,
  readsOutside: false,
  command: async (args, scope) => {
    try {
      const { realPath } = await writeTarget(args.path, scope);
      return {
        argv: ["write_file", realPath, args.content],
        cwd: scope.cwd,
        access: { type: "write", paths: [realPath] },
      };
    } catch (error) {
      throw new FileProblem(refusal(args, scope, error), { cause: error });
    }
  },
  run: async (args, context) => {
    try {
      return await write(args, context);
    } catch (error) {
      return { content: refusal(args, context, error), success: false };
    }
  },
});

function refusal({ path }: WriteFileArguments, { cwd }: ToolScope, error: unknown): string {
  return `cannot write ${resolve(cwd, path)}: ${failureText(error)}`;
}

async function write({ path, content }: WriteFileArguments, context: ToolContext): Promise<string> {
  const { realPath, root, folders, name } = await writeTarget(path, context);
  if (realPath !== context.command.argv[1]) throw new FileProblem(targetChanged);
  if (context.signal.aborted) throw new FileProblem("interrupted");
  await using folder = await openFolder(root, folders);
  const { stamp, isNew } = await replaceFile(folder, name, content, (old) => refuseUnseen(realPath, old, context));
  context.stamps.set(realPath, stamp);
  return `${isNew ? "Created" : "Replaced"} ${realPath} (${counted(Buffer.byteLength(content), "byte")})`;
}

/**
 * A change that somebody else made after the model read the file must not be overwritten without the model seeing it.
 */
function refuseUnseen(realPath: string, now: BigIntStats | undefined, { stamps, signal }: ToolContext): void {
  if (signal.aborted) throw new FileProblem("interrupted");
  const seen = stamps.get(realPath);
  if (seen === undefined) return;
  if (now === undefined) {
    // There is nothing to read again, so reporting the deletion once is enough.
    stamps.forget(realPath);
    throw new FileProblem("it was deleted since it was read; write it again to create it");
  }
  if (seen !== stampOf(now)) throw new FileProblem("it changed since it was read; read it again first");
}
