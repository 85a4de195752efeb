import * as fc from "fast-check";
import { expect, test } from "vitest";
import { EmptyRolloutError } from "../../../../src/base/errors.js";
import type { ResponseItem } from "../../../../src/messages/response-item.js";
import type { OwnLine } from "../../../../src/messages/rollout-line.js";
import { checkLine } from "../../../../src/rollouts/file/check-line.js";
import { exportName } from "../../../../src/rollouts/formats/export/export-name.js";
import type { LineObject } from "../../../../src/rollouts/file/lines.js";
import { assistant, call, output, summary, thought, user } from "../../../compaction/items.js";
import {
  anyConversation,
  conversationId,
  eventLine,
  exportedText,
  historyOf,
  itemLine,
  metaLine,
  timestamp,
  turnOf,
} from "./export-helpers.js";

interface JsonTurn {
  readonly items: ResponseItem[];
  readonly tool_calls: unknown[];
}

interface JsonExport {
  readonly history: ResponseItem[];
  readonly turns: JsonTurn[];
  readonly counts: { readonly turns: number; readonly items: number; readonly tool_calls: number };
}

test("JSON contains every item of the rollout by turn, and the history as sent to the model", async () => {
  await fc.assert(
    fc.asyncProperty(anyConversation, async (lines) => {
      const { history, turns, counts } = JSON.parse(await exportedText(lines, "json")) as JsonExport;
      const items = lines.flatMap((line) => (line.type === "response_item" ? [line.payload] : []));
      expect(history).toEqual(JSON.parse(JSON.stringify(historyOf(lines))));
      expect(turns.flatMap((turn) => turn.items)).toEqual(items);
      expect(counts).toMatchObject({ turns: turns.length, items: items.length });
      expect(turns.flatMap((turn) => turn.tool_calls)).toHaveLength(counts.tool_calls);
      expect(items.filter(({ type }) => type === "function_call")).toHaveLength(counts.tool_calls);
    }),
    { numRuns: 100 },
  );
});

test("JSON contains the conversation's metadata, its turns and the results of its calls", async () => {
  const usage = {
    input_tokens: 5,
    cached_input_tokens: 0,
    output_tokens: 2,
    reasoning_output_tokens: 0,
    total_tokens: 7,
  };
  const context = { cwd: "/projects/site", approval_policy: "never", sandbox_policy: { type: "read-only" as const } };
  const lines: OwnLine[] = [
    metaLine(),
    eventLine({ type: "task_started", turn_id: "turn_1" }),
    {
      timestamp,
      type: "turn_context",
      payload: { ...context, model: "offline-2", summary: "auto", provider: "offline" },
    },
    ...[user("go"), call("call_1", "read_file", { path: "a" }), output("call_1", "it"), assistant("done")].map(
      itemLine,
    ),
    eventLine({ type: "token_count", info: { total_token_usage: usage, last_token_usage: usage } }),
    eventLine({ type: "task_complete", turn_id: "turn_1", last_agent_message: "done" }),
    { timestamp: "2026-11-17T00:00:00.000Z", type: "cody", payload: { type: "named", name: "The site" } },
  ];
  expect(JSON.parse(await exportedText(lines, "json"))).toEqual({
    format: "cody",
    version: 1,
    session_id: conversationId.slice("conv_".length),
    conversation_id: conversationId,
    title: "The site",
    name: "The site",
    created_at: timestamp,
    last_updated: "2026-11-17T00:00:00.000Z",
    config_snapshot: { provider: "offline", model: "offline-2", summary: "auto", ...context },
    metadata: expect.objectContaining({ cwd: "/projects/site", originator: "cody" }) as unknown,
    usage: { total_token_usage: usage, last_token_usage: usage },
    counts: { turns: 1, items: 4, messages: 2, tool_calls: 1, compactions: 0 },
    turns: [
      {
        turn_id: "turn_1",
        timestamp,
        status: "complete",
        provider: "offline",
        model: "offline-2",
        token_usage: usage,
        items: historyOf(lines),
        tool_calls: [{ call_id: "call_1", name: "read_file", arguments: '{"path":"a"}', result: "it" }],
        changes: [],
      },
    ],
    history: historyOf(lines),
  });
});

async function codexLines(lines: readonly OwnLine[]): Promise<LineObject[]> {
  const text = await exportedText(lines, "codex");
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as LineObject);
}

const codexTypes = ["session_meta", "response_item", "compacted", "turn_context", "event_msg"];

test("a Codex export has the same history, and only lines of types that Codex knows", async () => {
  await fc.assert(
    fc.asyncProperty(anyConversation, async (lines) => {
      const read = await codexLines(lines);
      for (const { type } of read) expect(codexTypes).toContain(type);
      const back = read.flatMap((line) => checkLine(line).line ?? []);
      expect(back).toHaveLength(read.length);
      expect(historyOf(back)).toEqual(historyOf(lines));
      const said = lines.filter((line) => line.type === "response_item" && isSaid(line.payload));
      const shown = read.filter(({ payload }) => (payload as { type?: string }).type === "user_message");
      expect(shown).toHaveLength(said.length);
    }),
    { numRuns: 100 },
  );
});

function isSaid(item: ResponseItem): boolean {
  return item.type === "message" && item.role === "user";
}

test("a Codex export is self-contained: listed, without a provider, an old name or a history base", async () => {
  const meta = metaLine() as Extract<OwnLine, { type: "session_meta" }>;
  const payload = {
    ...meta.payload,
    model_provider: "my-lab",
    history_mode: "paginated" as const,
    session_id: "another",
    source: "exec",
  };
  const shown = eventLine({ type: "user_message", message: "go" });
  const [first, ...others] = await codexLines([{ ...meta, payload }, itemLine(user("go")), shown]);
  expect(first).toEqual({
    timestamp,
    type: "session_meta",
    metadata: { provider: "offline", model: "offline-1", format: 1 },
    payload: { ...meta.payload, source: "cli" },
  });
  // The rollout already has the item's event.
  expect(others).toEqual([itemLine(user("go")), shown]);
});

test("a Codex export's file name contains a UUID, whatever the conversation's id is", () => {
  const named = { conversationId: "my-own-id", title: "x", createdAt: timestamp };
  const name = exportName(named, "codex", 1);
  expect(name).toMatch(/^rollout-2026-11-16T\d\d-\d\d-30-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.jsonl$/);
  expect(exportName(named, "codex", 1)).toBe(name);
});

test.each([
  ["Fix the bug: it's <b>bad</b>", "cody-2026-11-16-fix-the-bug-it-s-b-bad-b-89abc"],
  ["../../etc/passwd", "cody-2026-11-16-etc-passwd-89abc"],
  ["\u202e☠", "cody-2026-11-16-89abc"],
  ["東京".repeat(100), `cody-2026-11-16-${"東京".repeat(25)}-89abc`],
  ["a b ".repeat(100), `cody-2026-11-16-${"a-b-".repeat(12)}a-89abc`],
])("an export file is named after the conversation's title: %j", (title, stem) => {
  const name = exportName({ conversationId: "a-89abc", title, createdAt: timestamp }, "html", 1);
  expect(name).toBe(`${stem.replace("89abc", "a89abc")}.html`);
  expect(Buffer.byteLength(name)).toBeLessThan(255);
});

test("Markdown shows all messages, and as much of tool calls as the terminal", async () => {
  const long = Array.from({ length: 40 }, (_, index) => `line ${index}`).join("\n");
  const report = `Exit code: 3\nWall time: 0.1 seconds\nOutput:\n${long}`;
  const lines: OwnLine[] = [
    metaLine(),
    ...turnOf(
      user("Look at\n# this"),
      thought("I look."),
      call("call_1", "shell", { command: ["cat", "it's"] }),
      call("call_2", "read_file", { path: "a.txt" }),
      output("call_1", report),
      output("call_2", "````\n</details>"),
      assistant("# Done\n\n<script>alert(1)</script> and `<b>`\n\n```js\nlet x"),
    ),
    {
      timestamp,
      type: "compacted",
      payload: { message: "They looked.", replacement_history: [summary("They looked.")] },
    },
    eventLine({ type: "task_started", turn_id: "turn_2" }),
    itemLine(user("more")),
    eventLine({ type: "turn_aborted", turn_id: "turn_2", reason: "interrupted" }),
  ];
  expect(await exportedText(lines, "markdown")).toBe(`# Look at

- Conversation: conv\\_01932d4c-89ab-7890-abcd-123456789abc
- Begun: 2026-11-16 10:20 UTC
- Last change: 2026-11-16 10:20 UTC
- Model: offline, offline-1
- Folder: /projects/site
- Length: 2 turns, 2 tool calls, 1 compaction

## 1. Look at

*2026-11-16 10:20 UTC*

**You**

> Look at
> # this

> *Thought:* I look.

\`\`\`
$ cat 'it'\\''s'
${Array.from({ length: 10 }, (_, index) => `  line ${index}`).join("\n")}
  … 25 more lines
${Array.from({ length: 5 }, (_, index) => `  line ${index + 35}`).join("\n")}
  exit code 3
\`\`\`

\`\`\`\`\`
read_file a.txt
  \`\`\`\`
  </details>
\`\`\`\`\`

**Assistant**

### Done

\\<script>alert(1)\\</script> and \`<b>\`

\`\`\`js
let x
\`\`\`

— *The history was compacted here* —

> They looked.

## 2. more

*2026-11-16 10:20 UTC*

**You**

> more

— *Interrupted* —
`);
});

test("no text can end its fence or quote in Markdown", async () => {
  const evil = fc.array(fc.constantFrom("`", "```", "````", "~~~", "\n", " ", "# x", "> ", "</details>", "<b>", "a"));
  await fc.assert(
    fc.asyncProperty(
      evil.map((parts) => parts.join("")),
      async (text) => {
        const items = [
          user(text),
          call("call_1", "shell", { command: [text] }),
          output("call_1", text),
          assistant(text),
        ];
        const written = await exportedText([metaLine(), ...turnOf(...items), itemLine(user("the end"))], "markdown");
        const { Lexer } = await import("marked");
        const ours = new Lexer().lex(written).filter((token) => token.type === "heading" && Number(token["depth"]) < 3);
        expect(ours).toHaveLength(3);
      },
    ),
    { numRuns: 300 },
  );
});

test("a conversation without messages is not exported", async () => {
  await expect(exportedText([metaLine()], "json")).rejects.toThrow(EmptyRolloutError);
});

test("the start and end events of a turn, and context before it, belong to one turn", async () => {
  const environment = user("<environment_context>here</environment_context>");
  const lines = [metaLine(), itemLine(environment), ...turnOf(user("go"), assistant("ok")), itemLine(user("more"))];
  const { turns } = JSON.parse(await exportedText(lines, "json")) as JsonExport;
  expect(turns.map(({ items }) => items.length)).toEqual([3, 1]);
});

test.each(["markdown", "html"] as const)("a provider's web search shows its query: %s", async (format) => {
  const search: ResponseItem = {
    type: "web_search_call",
    id: "ws_1",
    status: "completed",
    action: { type: "search", query: "weather in Paris <b>" },
  };
  const text = await exportedText([metaLine(), ...turnOf(user("Rain?"), search, assistant("No."))], format);
  expect(text).toMatch(/Searched the web for: weather in Paris (?:\\<b|&lt;b)/);
  expect(text).not.toContain("web\\_search\\_call");
});

test("Markdown keeps the characters of a text unchanged", async () => {
  const said = "A\u001b[31mred\u0007 \u202eB\u009b end";
  expect(await exportedText([metaLine(), itemLine(user("hi")), itemLine(assistant(said))], "markdown")).toContain(said);
});
