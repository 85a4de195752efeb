import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { RolloutOutbox } from "../../src/actors/rollout-writer/outbox.js";
import { openOwnerSocket } from "../../src/actors/rollout-writer/rollout-locks.js";
import { WriterThread } from "../../src/actors/rollout-writer/writer-thread.js";
import { redactionRules } from "../../src/config/secrets/redact.js";
import { createTextRedactor } from "../../src/config/secrets/text-redactor.js";
import { lineEncoder } from "../../src/rollouts/file/encode.js";
import { line } from "./sample-line.js";

export interface OpenRollouts extends AsyncDisposable {
  /** Appends a line to one rollout and waits until it is durable. */
  save(index: number): Promise<void>;
}

/** Opens rollouts as a manager does: an outbox in this thread, the writer in its own thread. */
export async function openRollouts(directory: string, count: number): Promise<OpenRollouts> {
  const folder = join(directory, "rollouts");
  await mkdir(folder);
  const encode = lineEncoder(createTextRedactor(redactionRules({}, { OPENAI_API_KEY: "sk-0123456789abcdef" })));
  const socket = await openOwnerSocket(directory);
  const outbox = new RolloutOutbox({
    writer: new WriterThread(() => new URL("../../dist/workers/entries/rollout-writer.cjs", import.meta.url)),
    owner: async () => socket.owner,
    onStopped: () => socket.close(),
  });
  const opened = await Promise.all(
    Array.from({ length: count }, (_, index) =>
      outbox.open({
        conversationId: `conv_${index}`,
        path: join(folder, `conv_${index}.jsonl`),
        mode: "create",
        encode,
      }),
    ),
  );
  const refused = opened.find(({ outcome }) => outcome.status !== "open");
  if (refused !== undefined) throw new Error(`a rollout could not be opened: ${JSON.stringify(refused.outcome)}`);
  return {
    save: async (index) => {
      const rollout = opened[index]?.rollout;
      rollout?.append(line);
      const outcome = await rollout?.flush();
      if (outcome?.status !== "saved") throw new Error(`a line was not saved: ${JSON.stringify(outcome)}`);
    },
    [Symbol.asyncDispose]: () => outbox.stop(),
  };
}
