import { applyPatch } from "../../src/tools/apply-patch.js";
import { FileStamps } from "../../src/tools/files/file-stamps.js";
import { patchOf } from "./versioned-patch.js";
import { sendReport } from "./report.js";

// Applies one multi-file patch after another until it is killed.
const { cwd, from } = JSON.parse(process.argv[2] ?? "") as { readonly cwd: string; readonly from: number };
const context = {
  cwd,
  sandbox: "workspace-write",
  privatePaths: [],
  wasAsked: false,
  callId: "call",
  turnId: "turn",
  signal: new AbortController().signal,
  env: {},
  stamps: new FileStamps(),
  emit: () => undefined,
} as const;

async function patchForEver(): Promise<void> {
  for (let version = from; ; version += 1) {
    const args = { input: patchOf(version) };
    const { success, content } = await applyPatch.run(args, {
      ...context,
      command: await applyPatch.command(args, context),
    });
    if (!success) throw new Error(content);
    sendReport({ type: "patched", round: version + 1 });
  }
}

void patchForEver();
