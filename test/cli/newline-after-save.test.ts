import { once } from "node:events";
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import type { CommandContext } from "../../src/cli/context.js";
import { openDiagnostics } from "../../src/cli/diagnostics.js";
import { outputTo } from "../../src/cli/terminal/output.js";
import { rendererFor } from "../../src/cli/terminal/render.js";
import type { EventMsg } from "../../src/messages/event.js";
import { Cli, saysOn } from "../support/cli.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { mockLlm, wireEnv } from "../support/wire-apis.js";

test("the newline that ends an answer is printed only after its turn is saved", async () => {
  const cli = await Cli.open();
  const child = cli.start(["chat", "my name is Alice"], { middle: "stall" });
  child.stdin.end();
  await saysOn(child.stderr, "stalled");
  child.kill("SIGKILL");
  expect(await textOf(child.stdout)).toBe("Noted: your name is Alice.");
});

test.each(["Hello", "Hello\n", "Hello\n\n", "one\ntwo\n"])(
  "a process killed when the last newline of %j arrives has saved the turn",
  async (text) => {
    const mock = await mockLlm([{ text, deltas: 3 }]);
    const cli = await Cli.open();
    const child = cli.start(["--provider", "openai", "chat", "go"], { env: wireEnv(mock) });
    child.stdin.end();
    child.stderr.resume();
    const whole = text.endsWith("\n") ? text : `${text}\n`;
    let seen = "";
    child.stdout.on("data", (chunk: Buffer) => {
      seen += chunk.toString();
      if (seen === whole) child.kill("SIGKILL");
    });
    await once(child, "close");
    const [id = ""] = await cli.ids();
    expect((await cli.lines(id)).map(({ payload }) => payload.type)).toContain("task_complete");
  },
);

test("two answers of one turn are separated by a newline", async () => {
  const call = { name: "list_files", arguments: {} };
  const mock = await mockLlm([{ text: "I will look.", calls: [call] }, { text: "Nothing there." }]);
  const cli = await Cli.open();
  const { stdout } = await cli.run(["--provider", "openai", "chat", "look"], { env: wireEnv(mock) });
  expect(stdout).toBe("I will look.\nNothing there.\n");
});

const answer: EventMsg[] = [
  { type: "agent_message_delta", delta: "Hello", item_id: "item" },
  { type: "agent_message", message: "Hello", item_id: "item" },
];
const compactionStart: EventMsg = {
  type: "compaction_start",
  trigger: "auto",
  strategy: "codex",
  estimated_tokens: 142_000,
};
const warning: EventMsg = { type: "warning", message: "Disk is nearly full" };
const complete: EventMsg = { type: "task_complete", turn_id: "turn", last_agent_message: "Hello" };

test("a warning and a compaction after an answer are printed when the turn has ended", async () => {
  expect(await renderedOutput([...answer, warning, compactionStart], {})).toBe("Hello");
  expect(await renderedOutput([...answer, warning, compactionStart, complete], {})).toBe(
    "Hello\nDisk is nearly full\nCompacting conversation history... (142k tokens)\n",
  );
});

test("on a terminal a compaction after an answer is shown immediately", async () => {
  expect(await renderedOutput([...answer, warning, compactionStart], { isTTY: true })).toBe(
    "Hello\nDisk is nearly full\n⠋ Compacting context (142k tokens)...",
  );
});

test("a warning during an answer does not print the answer twice", async () => {
  const [delta, message] = answer;
  expect(
    await renderedOutput(
      [delta, warning, message, complete].flatMap((msg) => msg ?? []),
      {},
    ),
  ).toBe("Hello\nDisk is nearly full\n");
});

/** The output of both streams in order, as on a terminal or with `2>&1`. */
async function renderedOutput(
  msgs: readonly EventMsg[],
  { isTTY = false }: { readonly isTTY?: boolean },
): Promise<string> {
  const stream = Object.assign(new PassThrough(), { isTTY, columns: 80 });
  const output = outputTo(stream);
  const terminal = { stdout: output, stderr: output, env: {} } as unknown as CommandContext["terminal"];
  const diagnostics = openDiagnostics(terminal, await temporaryFolder());
  const context = { ...diagnostics, terminal, flags: { json: false } } as unknown as CommandContext;
  const render = rendererFor(context, "stderr");
  for (const [seq, msg] of msgs.entries()) await render({ id: "1", seq, conversation_id: "conv_1", msg });
  await diagnostics.close();
  return String(stream.read() ?? "");
}

async function textOf(stream: AsyncIterable<unknown>): Promise<string> {
  let text = "";
  for await (const chunk of stream) text += String(chunk);
  return text;
}
