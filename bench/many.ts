// Measures the fairness of many conversations: turns beside one that floods, and a shutdown while turns run.
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { ConversationManager } from "./support/built-package.js";
import type { ModelEvent, ModelRequest } from "../src/messages/model.js";
import type { Provider } from "../src/providers/provider.js";
import { median } from "./support/measure.js";
import { met, printTable } from "./support/table.js";
import { temporaryDirectory } from "./support/temporary-directory.js";

const conversations = 1_000;
const turnsEach = 3;
const running = 200;
const rounds = 3;
const shutdownGoalMs = 5_000;
const fairGoal = 2;

const busy: Provider = { name: "busy", stream: answer };

await using directory = await temporaryDirectory();
const alone: number[] = [];
const besideFlooder: number[] = [];
for (let round = 0; round < rounds; round++) {
  alone.push(await p99OfTurns(`alone-${round}`, false));
  besideFlooder.push(await p99OfTurns(`flooded-${round}`, true));
}
const ratio = median(besideFlooder) / median(alone);
printTable(
  `${conversations} conversations x ${turnsEach} turns, p99 of a turn in ms (median of ${rounds})`,
  ["what", "p99", "ratio", "goal", ""],
  [
    ["nobody floods", median(alone).toFixed(0), "1.0x", "", ""],
    ["one floods", median(besideFlooder).toFixed(0), `${ratio.toFixed(1)}x`, `<= ${fairGoal}x`, met(ratio <= fairGoal)],
  ],
);

const hanging = await shutdownMs("hangs");
const commands = await shutdownMs("commands");
printTable(
  `Shutdown while ${running} turns run, ms`,
  ["what", "ms", "goal", ""],
  [
    ["models that never end", hanging.toFixed(0), `<= ${shutdownGoalMs}`, met(hanging <= shutdownGoalMs)],
    ["commands that never end", commands.toFixed(0), `<= ${shutdownGoalMs}`, met(commands <= shutdownGoalMs)],
  ],
);

async function p99OfTurns(name: string, flooded: boolean): Promise<number> {
  const manager = open(name);
  const all = await Promise.all(
    Array.from({ length: conversations }, async () => (await manager.newConversation(model("short"))).conversation),
  );
  const flooder = flooded ? (await manager.newConversation(model("floods"))).conversation : undefined;
  await flooder?.submit("flood");
  const times: number[] = [];
  await Promise.all(
    all.map(async (conversation) => {
      for (let turn = 0; turn < turnsEach; turn++) {
        const begin = performance.now();
        await conversation.processMessage("hi");
        times.push(performance.now() - begin);
      }
    }),
  );
  await manager.shutdown();
  const sorted = times.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN;
}

async function shutdownMs(name: string): Promise<number> {
  const manager = open(name);
  const all = await Promise.all(
    Array.from({ length: running }, async () => (await manager.newConversation(model(name))).conversation),
  );
  await Promise.all(
    all.map(async (conversation) => {
      await conversation.submit("go");
      for await (const { msg } of conversation.events()) {
        if (msg.type === (name === "commands" ? "exec_command_output_delta" : "task_started")) break;
      }
    }),
  );
  const begin = performance.now();
  await manager.shutdown();
  return performance.now() - begin;
}

function open(name: string): ConversationManager {
  const config = { sandbox: "danger-full-access" } as const;
  return new ConversationManager({ home: join(directory.path, name), providers: [busy], config });
}

function model(name: string): { provider: string; model: string } {
  return { provider: busy.name, model: name };
}

async function* answer(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  if (request.model === "hangs") while (!signal.aborted) await setImmediate();
  if (request.model === "floods") {
    for (let count = 0; !signal.aborted; count++) yield { type: "text_delta", itemId: `${count}`, delta: "x" };
  }
  if (request.model === "commands") {
    const args = JSON.stringify({ command: "echo runs; sleep 1000 & sleep 1000" });
    yield { type: "item", itemId: "c", item: { type: "function_call", name: "shell", arguments: args, call_id: "c" } };
    yield { type: "done", finishReason: "tool_calls" };
    return;
  }
  const content = [{ type: "output_text" as const, text: "hello" }];
  yield { type: "item", itemId: "answer", item: { type: "message", role: "assistant", content } };
  yield { type: "done", finishReason: "stop" };
}
