// One process of the benchmark `resume`: it writes a rollout, reads one with nothing but Node, or resumes one.
import { readFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { conversationId, type Kind } from "../resume/rollout-kind.js";

/** What reading or resuming took in a process of its own, without the start of that process. */
export interface Taken {
  readonly ms: number;
  readonly cpuMs: number;
  readonly peakMb: number;
  /** The longest the main thread did nothing else. */
  readonly blockedMs: number;
  /** Lines that were parsed, or items of the history. */
  readonly count: number;
}

const [what, path = "", bytes = "0", kind = ""] = process.argv.slice(2);
const nanosecondsPerMillisecond = 1e6;

// Each loads only what it needs: what is loaded counts for its memory.
if (what === "write") {
  const { writeRollout } = await import("../resume/write-rollout.js");
  await writeRollout(path, Number(bytes), kind as Kind);
  process.send?.(null);
} else if (what === "bare") {
  const { readBare } = await import("../resume/read-bare.js");
  await measured(async () => readBare(path));
} else {
  const { ConversationManager } = await import("../support/built-package.js");
  await measured(async () => {
    const manager = new ConversationManager({ home: path, env: { XDG_RUNTIME_DIR: path } });
    const conversation = await manager.resumeConversation(conversationId);
    void manager.shutdown();
    return conversation.getHistory().length;
  });
}
process.disconnect();

async function measured(work: () => Promise<number>): Promise<void> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const [begin, cpu] = [performance.now(), process.cpuUsage()];
  const count = await work();
  const ms = performance.now() - begin;
  const { user, system } = process.cpuUsage(cpu);
  const blockedMs = delay.max / nanosecondsPerMillisecond;
  const taken: Taken = { ms, cpuMs: (user + system) / 1000, peakMb: peakMb(), blockedMs, count };
  process.send?.(taken);
}

/** Of this program: what the system counts for a process begins with the memory of its parent. */
function peakMb(): number {
  const kilobytes = /VmHWM:\s+(\d+)/.exec(status())?.[1] ?? process.resourceUsage().maxRSS;
  return Number(kilobytes) / 1024;
}

function status(): string {
  try {
    return readFileSync("/proc/self/status", "utf8");
  } catch {
    return "";
  }
}
