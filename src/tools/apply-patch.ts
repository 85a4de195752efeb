import { isDeepStrictEqual } from "node:util";
import * as z from "zod";
import { defineTool } from "./define-tool.js";
import { failureText, FileProblem } from "./files/file-problem.js";
import { stampOf } from "./files/file-stamps.js";
import { commitFiles } from "./patch/commit-files.js";
import { type PlannedFile, planPatch } from "./patch/plan-patch.js";
import type { ToolContext } from "./tool.js";

const maxPatchChars = 2_000_000;

const ApplyPatchArguments = z.strictObject({
  input: z.string().min(1).max(maxPatchChars).describe("The whole patch, from *** Begin Patch to *** End Patch"),
});
type ApplyPatchArguments = z.infer<typeof ApplyPatchArguments>;

export const applyPatch = defineTool({
  name: "apply_patch",
  description: `Changes, creates, moves and deletes text files. Applies the whole patch or nothing. A patch looks like this:
*** Begin Patch
*** Add File: new.txt
+every line of a new file after a plus
*** Update File: src/old.ts
*** Move to: src/renamed.ts
@@ function name() {
 an unchanged line
-a line to remove
+a line to add
*** Delete File: gone.txt
*** End Patch
Paths are relative to the working folder. "Move to" and the text after "@@" are optional; a line after "@@" says \
where to look. Include about three unchanged lines around each change. "*** End of File" after lines says \
that they are the last. A file that changed since it was read is not changed: read it again first.`,
  parameters: ApplyPatchArguments,
  freeform: true,
  readsOutside: false,
  command: async ({ input }, scope) => {
    try {
      const { files, changes } = await planPatch(input, scope);
      const paths = files.map(({ target }) => target.realPath);
      return { argv: ["apply_patch", input, ...paths], cwd: scope.cwd, changes, access: { type: "write", paths } };
    } catch (error) {
      throw new FileProblem(`apply_patch verification failed: ${failureText(error)}`, { cause: error });
    }
  },
  run: async (args, context) => {
    const { callId: call_id, turnId: turn_id, wasAsked, command } = context;
    const changes = command.changes ?? {};
    context.emit({ type: "patch_apply_begin", call_id, turn_id, auto_approved: !wasAsked, changes });
    try {
      const stdout = await apply(args, context);
      context.emit({
        type: "patch_apply_end",
        call_id,
        turn_id,
        stdout,
        stderr: "",
        success: true,
        status: "completed",
      });
      return stdout;
    } catch (error) {
      const stderr = `The patch was not applied: ${failureText(error)}`;
      context.emit({ type: "patch_apply_end", call_id, turn_id, stdout: "", stderr, success: false, status: "failed" });
      return { content: stderr, success: false };
    }
  },
});

async function apply({ input }: ApplyPatchArguments, context: ToolContext): Promise<string> {
  refuseInterrupted(context);
  const { files, changes, done } = await planPatch(input, context);
  const paths = files.map(({ target }) => target.realPath);
  const isSame = isDeepStrictEqual([changes, paths], [context.command.changes, context.command.argv.slice(2)]);
  if (!isSame) {
    throw new FileProblem("the files changed after the approval request; read them again");
  }
  for (const file of files) refuseUnseen(file, context);
  const staged = await commitFiles(files, () => refuseInterrupted(context));
  for (const { realPath, stamp } of staged) {
    if (stamp === undefined) context.stamps.forget(realPath);
    else context.stamps.set(realPath, stamp);
  }
  return ["Success. Updated the following files:", ...done].join("\n");
}

function refuseInterrupted({ signal }: ToolContext): void {
  if (signal.aborted) throw new FileProblem("interrupted");
}

/**
 * A change that somebody else made after the model read the file must not be overwritten without the model seeing it.
 */
function refuseUnseen({ target: { realPath }, old }: PlannedFile, { stamps }: ToolContext): void {
  const seen = stamps.get(realPath);
  if (seen === undefined || old === undefined || seen === stampOf(old)) return;
  throw new FileProblem(`${realPath} changed since it was read; read it again first`);
}
