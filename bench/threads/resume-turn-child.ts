// A child process of the benchmark `resume`: resumes a rollout and plays the next turn.
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout } from "node:timers/promises";
import type { ModelEvent } from "../../src/messages/model.js";
import { conversationId } from "../resume/rollout-kind.js";
import { ConversationManager } from "../support/built-package.js";

/** Times in milliseconds. */
export interface TurnMeasurement {
  readonly resumeMs: number;
  readonly turnMs: number;
  /** The longest time the main thread was blocked. */
  readonly resumeStall: number;
  readonly turnStall: number;
  readonly peakMb: number;
}

const [home = ""] = process.argv.slice(2);
const nanosecondsPerMillisecond = 1e6;

async function* answer(): AsyncGenerator<ModelEvent> {
  const content = [{ type: "output_text" as const, text: "An answer" }];
  yield { type: "item", itemId: "answer", item: { type: "message", role: "assistant", content } };
  yield { type: "done", finishReason: "stop" };
}
const manager = new ConversationManager({
  home,
  env: { XDG_RUNTIME_DIR: home },
  providers: [{ name: "instant", stream: answer }],
  config: { compaction: { enabled: false } },
});
// A conversation of the same process has loaded everything that any conversation needs.
const first = await manager.newConversation({ provider: "instant", model: "instant" });
await first.conversation.processMessage("hello");
await setTimeout(300);
const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
await setTimeout(20);
delay.reset();
const begin = performance.now();
const conversation = await manager.resumeConversation(conversationId, {
  provider: "instant",
  model: "instant",
});
const resumed = performance.now();
const resumeStall = delay.max / nanosecondsPerMillisecond;
delay.reset();
await conversation.processMessage("go on");
const played = performance.now();
await setTimeout(20);
const measurement: TurnMeasurement = {
  resumeMs: resumed - begin,
  turnMs: played - resumed,
  resumeStall,
  turnStall: delay.max / nanosecondsPerMillisecond,
  peakMb: process.resourceUsage().maxRSS / 1024,
};
process.send?.(measurement);
await manager.shutdown();
process.disconnect();
