import { applyPatch } from "../../src/tools/apply-patch.js";
import { FileStamps } from "../../src/tools/files/file-stamps.js";
import { PatchDisk, type PatchPoint } from "./patch-disk.js";
import { sendReport } from "./report.js";

/** A patch, and the fault while it is applied. */
export interface PatchOrder {
  readonly cwd: string;
  readonly input: string;
  readonly point?: PatchPoint;
}

/** The report of a process that finishes. */
export interface PatchEnd {
  readonly success: boolean;
  readonly content: string;
  readonly calls: readonly string[];
  /** How many file handles were left open. */
  readonly open: number;
  /** How many files the disk refused to remove. */
  readonly failedRemovals: number;
}

void play(JSON.parse(process.argv[2] ?? "") as PatchOrder);

async function play({ cwd, input, point }: PatchOrder): Promise<void> {
  const context = {
    cwd,
    sandbox: "workspace-write",
    wasAsked: false,
    privatePaths: [],
    callId: "call",
    turnId: "turn",
    signal: new AbortController().signal,
    env: {},
    stamps: new FileStamps(),
    emit: () => undefined,
  } as const;
  const args = { input };
  const command = await applyPatch.command(args, context);
  const disk = new PatchDisk(point);
  await disk.install();
  const { success, content } = await applyPatch.run(args, { ...context, command });
  const end: PatchEnd = {
    success,
    content,
    calls: disk.calls,
    open: disk.open.size,
    failedRemovals: disk.failedRemovals,
  };
  sendReport({ type: "end", message: JSON.stringify(end) });
  process.kill(process.pid, "SIGKILL");
}
