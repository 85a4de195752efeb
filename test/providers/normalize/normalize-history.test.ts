import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { WireApi } from "../../../src/messages/settings/config.js";
import type {
  ContentPart,
  ReasoningItem,
  ResponseItem,
  ToolOutputContent,
} from "../../../src/messages/response-item.js";
import { supportsCustomTools } from "../../../src/providers/normalize/api-rules.js";
import { normalizeHistory } from "../../../src/providers/normalize/normalize-history.js";
import { assistant, user } from "../requests.js";
import { problemsIn } from "./history-checker.js";
import { anyHistory, model, validHistory } from "./histories.js";

const apis: readonly WireApi[] = ["responses", "chat", "messages"];
const interrupted = "interrupted, result unknown";

describe.each(apis)("over %s", (api) => {
  test("the result is accepted by the API", () => {
    fc.assert(
      fc.property(anyHistory, (items) => {
        expect(problemsIn(api, normalizeHistory(api, items, model), model)).toEqual([]);
      }),
      { numRuns: 1_000 },
    );
  });

  test("normalizing twice changes nothing more", () => {
    fc.assert(
      fc.property(anyHistory, (items) => {
        const once = normalizeHistory(api, items, model);
        expect(normalizeHistory(api, once, model)).toEqual(once);
      }),
      { numRuns: 500 },
    );
  });

  test("the texts of messages are kept in order", () => {
    fc.assert(
      fc.property(anyHistory, (items) => {
        expect(words(normalizeHistory(api, items, model))).toEqual(words(items));
      }),
      { numRuns: 500 },
    );
  });

  test("a valid history is not changed", () => {
    fc.assert(
      fc.property(validHistory(api), (items) => {
        const sent = normalizeHistory(api, items, model);
        expect(sent).toHaveLength(items.length);
        expect(sent.every((item, index) => item === items[index])).toBe(true);
      }),
    );
  });

  test("an item that has to be changed is converted once for all requests", () => {
    const broken = [user("half \ud83d"), assistant("ok"), user("go on")];
    const [first] = normalizeHistory(api, broken, model);
    expect(first).not.toBe(broken[0]);
    expect(normalizeHistory(api, broken, model)[0]).toBe(first);
  });

  test("a call without an output gets one after the calls made with it", () => {
    const items = [user("go"), call("a"), call("b"), output("a", "done"), user("and?")];
    expect(normalizeHistory(api, items, model)).toEqual([
      user("go"),
      call("a"),
      call("b"),
      output("a", "done"),
      output("b", interrupted),
      user("and?"),
    ]);
  });

  test("outputs that are early, repeated or without a call are dropped", () => {
    const items = [user("go"), output("a", "early"), call("a"), output("a", "first"), output("a", "second")];
    expect(normalizeHistory(api, [...items, output("lost", "?")], model)).toEqual([
      user("go"),
      call("a"),
      output("a", "first"),
    ]);
  });

  test("an output after a later user message is moved to its call", () => {
    const items = [user("go"), call("a"), user("hurry"), output("a", "done")];
    expect(normalizeHistory(api, [...items, user("?")], model)).toEqual([
      user("go"),
      call("a"),
      output("a", "done"),
      user("hurry"),
      user("?"),
    ]);
  });

  test("calls that share an id get unique ids, and their outputs are matched in order", () => {
    const items = [user("go"), call("a"), call("a"), output("a", "1"), output("a", "2"), call("a"), output("a", "3")];
    expect(normalizeHistory(api, [...items, call("a_2"), output("a_2", "4")], model)).toEqual([
      user("go"),
      call("a"),
      call("a_3"),
      output("a", "1"),
      output("a_3", "2"),
      call("a_4"),
      output("a_4", "3"),
      call("a_2"),
      output("a_2", "4"),
    ]);
  });

  test("reasoning of this model is sent unchanged, and that of another model is dropped", () => {
    const own = reasoning({ api, model });
    const foreign = reasoning({ api, model: "another" });
    const items = [user("go"), own, call("a"), output("a", "1"), foreign, call("b"), output("b", "2")];
    expect(normalizeHistory(api, items, model)).toEqual([
      user("go"),
      own,
      call("a"),
      output("a", "1"),
      call("b"),
      output("b", "2"),
    ]);
  });

  test("reasoning is dropped with the reasoning beside it or the item after it", () => {
    const own = reasoning({ api, model });
    const hollow: ResponseItem = { type: "reasoning", summary: [], origin: { api, model } };
    const search: ResponseItem = { type: "web_search_call", status: "completed" };
    const snapshot: ResponseItem = { type: "ghost_snapshot", ghost_commit: { id: "c" } };
    const items = [user("go"), own, hollow, call("a"), output("a", "1"), own, search, assistant("found"), own];
    expect(normalizeHistory(api, [...items, user("so?"), own, snapshot, assistant("so"), user("ok")], model)).toEqual([
      user("go"),
      call("a"),
      output("a", "1"),
      assistant("found"),
      user("so?"),
      own,
      assistant("so"),
      user("ok"),
    ]);
  });

  test("arguments that are not a JSON object are wrapped in one", () => {
    const sent = (args: string): ResponseItem | undefined =>
      normalizeHistory(api, [user("go"), calledWith(args), output("a", "no")], model)[1];
    const written = ['{"command": "ls', '["ls"]', "null", " ", '{"command":"ls"}'];
    expect(written.map(sent)).toEqual([
      calledWith('{"arguments":"{\\"command\\": \\"ls"}'),
      calledWith('{"arguments":"[\\"ls\\"]"}'),
      calledWith('{"arguments":"null"}'),
      calledWith("{}"),
      calledWith('{"command":"ls"}'),
    ]);
  });

  test("a repeated item id is removed", () => {
    const answer = { ...assistant("yes"), id: "msg_1" };
    expect(normalizeHistory(api, [user("a"), answer, user("b"), answer, user("c")], model)).toEqual([
      user("a"),
      answer,
      user("b"),
      assistant("yes"),
      user("c"),
    ]);
  });

  test("an empty history becomes a user message", () => {
    expect(normalizeHistory(api, [output("lost", "?")], model)).toEqual([user("Go on.")]);
  });

  test("thousands of calls with one id are renamed in linear time", () => {
    const items = Array.from({ length: 20_000 }, () => call("a"));
    expect(normalizeHistory(api, items, model).length).toBeGreaterThanOrEqual(40_000);
  });
});

test("reasoning of unknown origin is sent encrypted over Responses only, and as text over Chat only", () => {
  const sealed: ResponseItem = { type: "reasoning", summary: [], encrypted_content: "sealed" };
  const clear: ResponseItem = { type: "reasoning", summary: [{ type: "summary_text", text: "hm" }] };
  const items = [user("1"), sealed, assistant("1"), user("2"), clear, assistant("2"), user("3")];
  expect(normalizeHistory("responses", items, model)).toEqual(items.filter((item) => item !== clear));
  expect(normalizeHistory("chat", items, model)).toEqual(items.filter((item) => item !== sealed));
  expect(normalizeHistory("messages", items, model)).toEqual(items.filter((item) => item.type !== "reasoning"));
});

test("custom and shell calls become function calls where the API or the model does not support them", () => {
  const custom: ResponseItem[] = [
    { type: "custom_tool_call", name: "apply_patch", input: "*** Begin Patch", call_id: "c" },
    { type: "custom_tool_call_output", call_id: "c", output: "Done!" },
  ];
  const shell: ResponseItem = {
    type: "local_shell_call",
    status: "completed",
    call_id: "s",
    action: { type: "exec", command: ["ls"] },
  };
  const asFunction = call("s", "local_shell", '{"type":"exec","command":["ls"]}');
  const items = [user("go"), ...custom, shell, output("s", "a.txt")];
  expect(normalizeHistory("responses", items, model)).toEqual([
    user("go"),
    ...custom,
    asFunction,
    output("s", "a.txt"),
  ]);
  for (const [api, to] of [
    ["chat", model],
    ["messages", model],
    ["responses", "o3"],
  ] as const) {
    expect(normalizeHistory(api, items, to)).toEqual([
      user("go"),
      call("c", "apply_patch", '{"input":"*** Begin Patch"}'),
      output("c", "Done!"),
      asFunction,
      output("s", "a.txt"),
    ]);
  }
});

test.each([
  ["gpt-5", true],
  ["gpt-5-mini-2025-08-07", true],
  ["gpt-5.3-codex", true],
  ["gpt-5-chat-latest", false],
  ["gpt-5.1-chat-latest", false],
  ["openai/gpt-5", false],
  ["gpt-4.1", false],
  ["o3", false],
])("supportsCustomTools of %s is %s", (name, takes) => {
  expect(supportsCustomTools(name)).toBe(takes);
});

test("a custom call without an output gets a custom output, and an output without its call is dropped", () => {
  const open: ResponseItem = { type: "custom_tool_call", name: "apply_patch", input: "x", call_id: "c" };
  const lost: ResponseItem = { type: "custom_tool_call_output", call_id: "lost", output: "?" };
  expect(normalizeHistory("responses", [user("go"), lost, open], model)).toEqual([
    user("go"),
    open,
    { type: "custom_tool_call_output", call_id: "c", output: "interrupted, result unknown" },
  ]);
});

test("a developer message becomes a system message over Chat and a user message over Messages", () => {
  expect(normalizeHistory("responses", [messageFrom("developer")], model)).toEqual([messageFrom("developer")]);
  expect(normalizeHistory("chat", [messageFrom("developer")], model)).toEqual([messageFrom("system")]);
  expect(normalizeHistory("messages", [messageFrom("developer"), messageFrom("system")], model)).toEqual([
    messageFrom("user"),
    messageFrom("user"),
  ]);
});

test("over Messages the first and the last message are from the user", () => {
  expect(normalizeHistory("messages", [assistant("hello")], model)).toEqual([
    user("[The beginning of this conversation is not shown.]"),
    assistant("hello"),
    user("Go on."),
  ]);
});

function messageFrom(role: "developer" | "system" | "user"): ResponseItem {
  return { type: "message", role, content: [{ type: "input_text", text: "be kind" }] };
}

test("over Chat images of outputs are moved after all outputs, and over Responses they stay", () => {
  const image = { type: "input_image" as const, image_url: "data:image/png;base64,iVBORw0KGgo=" };
  const one: ContentPart = { type: "input_text", text: "one" };
  const moved: ContentPart = { type: "input_text", text: "[the image follows the outputs]" };
  const items = [call("a"), call("b"), output("a", [one, image]), output("b", "two")];
  expect(normalizeHistory("chat", items, model)).toEqual([
    call("a"),
    call("b"),
    output("a", [one, moved]),
    output("b", "two"),
    { type: "message", role: "user", content: [image] },
  ]);
  expect(normalizeHistory("responses", items, model)).toEqual(items);
});

function call(call_id: string, name = "shell", args = "{}"): ResponseItem {
  return { type: "function_call", name, arguments: args, call_id };
}

function output(call_id: string, text: ToolOutputContent): ResponseItem {
  return { type: "function_call_output", call_id, output: text };
}

function reasoning(origin: ReasoningItem["origin"] & object): ResponseItem {
  const content = [{ type: "reasoning_text" as const, text: "hm" }];
  return { type: "reasoning", summary: [], content, encrypted_content: "sealed", origin };
}

/** The texts of messages, without the placeholders for content that cannot be sent. */
function words(items: readonly ResponseItem[]): string[] {
  return items
    .flatMap((item) => (item.type === "message" ? item.content : []))
    .flatMap((part) => ("text" in part ? [part.text.toWellFormed()] : []))
    .filter(
      (text) => text.trim() !== "" && !/left out\]$|not shown\.\]$|^\((?:Searched|Opened|Looked) |^Go on\.$/.test(text),
    );
}

test("over Responses a model without reasoning is sent no reasoning", () => {
  const sealed: ResponseItem = { type: "reasoning", summary: [], encrypted_content: "sealed" };
  const items = [user("go"), sealed, assistant("yes"), user("on")];
  expect(normalizeHistory("responses", items, "gpt-4o")).toEqual([user("go"), assistant("yes"), user("on")]);
  expect(normalizeHistory("responses", items, "gpt-5")).toEqual(items);
});

function calledWith(args: string): ResponseItem {
  return { type: "function_call", name: "shell", arguments: args, call_id: "a" };
}
