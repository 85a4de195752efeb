import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import type { CommandContext } from "../../../src/cli/context.js";
import { openDiagnostics } from "../../../src/cli/diagnostics.js";
import { outputTo } from "../../../src/cli/terminal/output.js";
import { rendererFor } from "../../../src/cli/terminal/render.js";
import type { EventMsg } from "../../../src/messages/event.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const start: EventMsg = { type: "compaction_start", trigger: "auto", strategy: "codex", estimated_tokens: 142_000 };
const prepare: EventMsg = { type: "compaction_prepare", strategy: "codex", estimated_tokens: 96_000 };
const end = (outcome: "compacted" | "kept" | "aborted"): EventMsg => ({
  type: "compaction_end",
  outcome,
  tokens_before: 142_300,
  tokens_after: outcome === "compacted" ? 28_000 : 142_300,
  summary: "",
});
const delta: EventMsg = { type: "agent_message_delta", delta: "Hello", item_id: "item" };
const warning: EventMsg = { type: "warning", message: "Compression failed, conversation may hit limits soon" };
const tokenCount: EventMsg = { type: "token_count", info: null };
const eraseLine = "\r\u001b[K";

test("in a pipe each compaction message is a line of its own", async () => {
  expect(await rendered([start, tokenCount, end("compacted")], {})).toEqual({
    stdout: "",
    stderr: "Compacting conversation history... (142k tokens)\nContext compacted: 142k → 28k tokens\n",
  });
});

test("on a terminal the result replaces the progress line", async () => {
  expect((await rendered([start, tokenCount, end("compacted")], { columns: 80 })).stderr).toBe(
    `Compacting context (142k tokens)...${eraseLine}Context compacted: 142k → 28k tokens\n`,
  );
});

test("on a terminal too narrow for the progress line it is not erased", async () => {
  expect((await rendered([start, end("compacted")], { columns: 30 })).stderr).toBe(
    "Compacting conversation history... (142k tokens)\nContext compacted: 142k → 28k tokens\n",
  );
});

const preparing = "Preparing to compact context in the background (96k tokens)...";
test.each([{}, { columns: 80 }])(
  "a background summary is reported when it starts and when it is applied, %j",
  async (terminal) => {
    const { stdout, stderr } = await rendered([delta, prepare, prepare, start, end("compacted"), prepare], terminal);
    expect(stdout).toBe("Hello\n");
    const lines = stderr.split("\n").map((line) => line.split(eraseLine).at(-1) ?? "");
    expect(lines.filter((text) => !text.startsWith("Compacting conversation history"))).toEqual([
      preparing,
      "Context compacted: 142k → 28k tokens",
      preparing,
      "",
    ]);
  },
);

test.each(["kept", "aborted"] as const)("when the history was %s, only its warning is shown", async (outcome) => {
  const stderr = (await rendered([start, warning, end(outcome)], { columns: 80 })).stderr;
  expect(stderr).toBe(`Compacting context (142k tokens)...${eraseLine}${warning.message}\n`);
  expect((await rendered([start, end(outcome)], { columns: 80 })).stderr.endsWith(eraseLine)).toBe(true);
});

test("the progress line starts on a new line and is erased before the next answer", async () => {
  const { stdout, stderr } = await rendered([delta, start, delta, end("compacted")], { columns: 80 });
  expect(stdout).toBe("Hello\nHello\n");
  expect(stderr.split(eraseLine)).toHaveLength(2);
});

test("with --json the events are printed unchanged and nothing else", async () => {
  const { stdout, stderr } = await rendered([start, end("compacted")], { json: true });
  expect(
    stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line).msg),
  ).toEqual([start, end("compacted")]);
  expect(stderr).toBe("");
});

/** The output on both streams after rendering these events; with columns they are a terminal. */
async function rendered(
  msgs: readonly EventMsg[],
  { columns, json = false }: { readonly columns?: number; readonly json?: boolean },
): Promise<{ stdout: string; stderr: string }> {
  const streams = [new PassThrough(), new PassThrough()].map((stream) =>
    Object.assign(stream, columns === undefined ? {} : { isTTY: true, columns }),
  );
  const [stdout, stderr] = streams.map((stream) => outputTo(stream));
  const terminal = { stdout, stderr, env: {} } as unknown as CommandContext["terminal"];
  const diagnostics = openDiagnostics(terminal, await temporaryFolder());
  const context = { ...diagnostics, terminal, flags: { json } } as unknown as CommandContext;
  const render = rendererFor(context, "stdout");
  for (const [seq, msg] of msgs.entries()) await render({ id: "1", seq, conversation_id: "conv_1", msg });
  await diagnostics.close();
  const [out, err] = streams.map((stream) => String(stream.read() ?? ""));
  return { stdout: out ?? "", stderr: oneFrame(err ?? "") };
}

/** The progress line without its animation. */
function oneFrame(text: string): string {
  return text
    .split(eraseLine)
    .map((part) => part.replace(/^[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] /, ""))
    .filter((part, index, parts) => part !== parts[index + 1])
    .join(eraseLine);
}
