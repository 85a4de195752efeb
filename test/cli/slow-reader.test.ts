import { once } from "node:events";
import type { Readable } from "node:stream";
import { expect, test } from "vitest";
import type { Event } from "../../src/messages/event.js";
import type { Provider } from "../../src/providers/provider.js";
import { FakeTerminal } from "../support/cli-terminal.js";
import { Cli } from "../support/cli.js";
import { assistant } from "../support/scripted-provider.js";
import { mockLlm, wireEnv } from "../support/wire-apis.js";

const deltas = 3_000;
const piece = `${"x".repeat(4_095)}\n`;
const answer = piece.repeat(deltas);
const slowPipe = {
  notTTY: ["stdin", "stdout", "stderr"],
  isSlow: true,
  env: { CODY_TURN_LIMITS_ANSWER_BYTES: String(2 * answer.length) },
} as const;
/** The most data that may be buffered between the model and stdout. */
const maxBufferedBytes = 4_000_000;

/** A model that answers with 12 MB, and how much of it has been read so far. */
function largeAnswer() {
  const model = { chars: 0 };
  const provider: Provider = {
    name: "scripted",
    async *stream() {
      model.chars = 0;
      for (let count = 0; count < deltas; count += 1) {
        model.chars += piece.length;
        yield { type: "text_delta", itemId: "item", delta: piece };
      }
      yield { type: "item", itemId: "item", item: assistant(answer) };
      yield { type: "done", finishReason: "stop" };
    },
  };
  return { model, provider };
}

test("a slow reader gets all of a large answer, and the model is not read far ahead of it", async () => {
  const { model, provider } = largeAnswer();
  const terminal = await FakeTerminal.open(provider, slowPipe);
  let lead = 0;
  const watching = setInterval(() => (lead = Math.max(lead, model.chars - terminal.screen.length)), 1);
  const code = await terminal.run("chat", "go");
  clearInterval(watching);
  expect(code).toBe(0);
  expect(terminal.screen.length).toBe(answer.length);
  expect(terminal.errors).not.toContain("Not shown");
  expect(lead).toBeLessThan(maxBufferedBytes);
});

test("a slow reader of --json gets every event", async () => {
  const { provider } = largeAnswer();
  const terminal = await FakeTerminal.open(provider, slowPipe);
  expect(await terminal.run("--json", "chat", "go")).toBe(0);
  const events = terminal.screen
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Event);
  const shown = events.flatMap(({ msg }) => (msg.type === "agent_message_delta" ? [msg.delta] : []));
  expect(shown.join("").length).toBe(answer.length);
  expect(events.map(({ msg }) => msg.type)).not.toContain("lagged");
});

test("the process exits once a slow reader has read all of its output", async () => {
  const texts = ["a", "b", "c"].map((letter) => `${letter.repeat(99)}\n`.repeat(40_000));
  const mock = await mockLlm(texts.map((text) => ({ text, deltas: 1_000 })));
  const env = { ...wireEnv(mock), CODY_COMPACTION_ENABLED: "false" };
  const cli = await Cli.open({ spawned: true });
  const child = cli.start(["--provider", "openai"], { env });
  child.stdin.end("one\ntwo\nthree\n");
  const closed = once(child, "close");
  child.stderr.resume();
  expect(await readSlowly(child.stdout)).toBe(texts.join(""));
  expect(await closed).toEqual([0, null]);
  const exporting = cli.start(["export", "--format", "json", "--output", "-"], { env });
  exporting.stderr.resume();
  const exported = await readSlowly(exporting.stdout);
  for (const text of texts) expect(exported).toContain(JSON.stringify(text).slice(1, -1));
});

async function readSlowly(stream: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) {
    chunks.push(chunk as Buffer);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return Buffer.concat(chunks).toString();
}
