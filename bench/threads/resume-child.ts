// A child process of the benchmark `resume`: writes a rollout, reads one with plain Node, or resumes one.
import { readFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { conversationId, type Kind } from "../resume/rollout-kind.js";

/** The cost of reading or resuming in a child process, without the start of that process. */
export interface Measurement {
  readonly ms: number;
  readonly cpuMs: number;
  readonly peakMb: number;
  /** The longest time the main thread was blocked. */
  readonly blockedMs: number;
  /** The number of parsed lines, or of history items. */
  readonly count: number;
}

const [what, path = "", bytes = "0", kind = ""] = process.argv.slice(2);
const nanosecondsPerMillisecond = 1e6;

// Each mode imports only the modules it needs, because loaded modules count towards its memory.
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
  const measurement: Measurement = { ms, cpuMs: (user + system) / 1000, peakMb: peakMb(), blockedMs, count };
  process.send?.(measurement);
}

/** The peak memory of this program; the system's own counter starts with the memory of the parent process. */
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
