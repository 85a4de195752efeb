import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ResponseItem } from "../../../src/messages/response-item.js";
import { offlineReply } from "../../../src/providers/offline/reply.js";
import { assistant, requestOf, user } from "../requests.js";

const tools = ["shell", "read_file", "write_file", "search_files", "apply_patch", "add_knowledge"];
const patch = "*** Begin Patch\n*** Delete File: a\n*** End Patch";

function answerTo(...texts: string[]): string {
  const reply = offlineReply(requestOf(texts.map(user), tools));
  return reply.type === "text" ? reply.text : `called ${reply.name}`;
}

describe("memory", () => {
  test.each([
    [["Hello, my name is Alice", "What's my name?"], "You told me: your name is Alice."],
    [["Hello, my name is Alice", "What did I tell you my name was?"], "You told me: your name is Alice."],
    [["my name is Alice.", "thanks", "Do you remember my name?"], "You told me: your name is Alice."],
    [["my name is Alice", "my name is Bob", "who am I?"], "You told me: your name is Bob."],
    [["my favourite colour is green!", "what is my favorite color"], "You told me: your favourite colour is green."],
    [["I live in New York.", "Where do I live?"], "You told me: you live in New York."],
    [["My dog is old and my cat is young", "What is my cat?"], "You told me: your cat is young."],
    [["my email is a@b.com", "what is my email address?"], "You told me: your email is a@b.com."],
    [["hello", "What's my name?"], "You have not told me that yet."],
  ])("after %j it answers %j", (texts, answer) => {
    expect(answerTo(...texts)).toBe(answer);
  });

  test("facts the user states are confirmed", () => {
    expect(answerTo("My name is Alice and my favourite colour is green.")).toBe(
      "Noted: your name is Alice, your favourite colour is green.",
    );
  });

  test("facts are remembered from the summary of a compacted conversation", () => {
    const summary = answerTo("my name is Alice", "provide a concise summary");
    expect(answerTo(`Summary of earlier conversation:\n\n${summary}`, "What's my name?")).toBe(
      "You told me: your name is Alice.",
    );
  });

  test("context messages are not taken for the user's words", () => {
    const context = [
      "<environment_context>\nmy name is Eve\n</environment_context>",
      "# AGENTS.md instructions for /project\n\n<INSTRUCTIONS>\nmy name is Eve\n</INSTRUCTIONS>",
      "<turn_aborted>\nThe user interrupted\n</turn_aborted>",
    ];
    expect(answerTo("hello there", ...context, "What did I just say?")).toBe("You said: hello there");
    expect(answerTo(...context, "What's my name?")).toBe("You have not told me that yet.");
  });
});

describe("recall", () => {
  test.each([
    [["What's 2+2?", "What math question did I just ask?"], "You asked: What's 2+2?"],
    [["What's 2+2?", "thanks", "What math question did I just ask?"], "You asked: What's 2+2?"],
    [["hello", "What math question did I just ask?"], "You have not asked me to calculate anything."],
    [["hello", "what did I just say?"], "You said: hello"],
    [["one", "two", "three", "four", "what were my last questions?"], "You said: two | three | four"],
    [["what did I just say?"], "Nothing yet."],
  ])("after %j it answers %j", (texts, answer) => {
    expect(answerTo(...texts)).toBe(answer);
  });
});

describe("tools", () => {
  test.each([
    ["list files", "shell", { command: ["ls", "-1", "."] }],
    ["Please list the files in src/cli.", "shell", { command: ["ls", "-1", "src/cli"] }],
    ["run npm test -- --watch=false", "shell", { command: ["sh", "-c", "npm test -- --watch=false"] }],
    ["run `echo hi`", "shell", { command: ["sh", "-c", "echo hi"] }],
    ["read README.md", "read_file", { path: "README.md" }],
    ["search for TODO", "search_files", { pattern: "TODO", literal: true, path: "." }],
    ['search "two words" in src.', "search_files", { pattern: "two words", literal: true, path: "src" }],
    [`Do this:\n${patch}`, "apply_patch", { input: patch }],
    ['read the file "a b.txt"', "read_file", { path: "a b.txt" }],
    [
      "Remember for this project that tests run with vitest",
      "add_knowledge",
      { type: "pattern", content: "tests run with vitest" },
    ],
    ["write notes.txt: first\nsecond: 2", "write_file", { path: "notes.txt", content: "first\nsecond: 2" }],
  ])("%j calls a tool", (text, name, args) => {
    expect(offlineReply(requestOf([user(text)], tools))).toEqual({ type: "call", name, arguments: args });
    expect(offlineReply(requestOf([user(text)]))).toEqual({
      type: "text",
      text: `I am cody's offline model, a small program, not a language model. I have no tool named ${name} here.`,
    });
  });

  test.each([
    ["a.txt\nb.txt", "The tool answered:\na.txt\nb.txt"],
    ["", "The tool returned no output."],
    [[{ type: "input_text" as const, text: "from a part" }], "The tool answered:\nfrom a part"],
  ])("the tool output %j is reported", (output, text) => {
    const input: ResponseItem[] = [user("list files"), { type: "function_call_output", call_id: "1", output }];
    expect(offlineReply(requestOf(input, tools))).toEqual({ type: "text", text });
  });
});

test("an updated summary keeps the goal and the facts of the previous one", () => {
  const before = "## Goal\nBuild a boat\n\n## Critical Context\n- my name is Alice";
  const prompt = `Give a concise summary.\n\n<previous_summary>\n${before}\n</previous_summary>`;
  const summary = answerTo("Now paint it", prompt);
  expect(summary).toContain("## Goal\nBuild a boat\n");
  expect(summary).toContain("my name is Alice");
  expect(summary).toContain("Now paint it");
});

test("a summary lists goal, progress, decisions, next steps and context", () => {
  const input = [
    user("Fix the parser in src/parser.ts"),
    assistant("We decided to keep the tokenizer. See docs/grammar.md."),
    user("my name is Alice"),
    user("Please provide a concise summary of the conversation so far."),
  ];
  expect(offlineReply(requestOf(input))).toEqual({
    type: "text",
    text: `## Goal
Fix the parser in src/parser.ts

## Progress
- The user said: Fix the parser in src/parser.ts
- The user said: my name is Alice

## Key Decisions
- We decided to keep the tokenizer.

## Next Steps
- Go on from: my name is Alice

## Critical Context
- my name is Alice
- Files named: src/parser.ts docs/grammar.md`,
  });
});

test("a second summary keeps the goal of the first summary", () => {
  const first = answerTo("Fix the parser", "provide a concise summary");
  const second = answerTo(`Summary of earlier conversation:\n\n${first}`, "Now the lexer", "provide a concise summary");
  expect(second.split("\n").slice(0, 5)).toEqual([
    "## Goal",
    "Fix the parser",
    "",
    "## Progress",
    "- The user said: Now the lexer",
  ]);
});

test("an unknown request is answered with help and a note that this is not a language model", () => {
  expect(answerTo("Write me a poem")).toBe(
    'I am cody\'s offline model, a small program, not a language model. I heard: Write me a poem\nSay "help" for what I can do. To use a real model, add an API key: cody set-auth openai-api-key - (or anthropic-api-key, openrouter-api-key)',
  );
  expect(answerTo("help").split("\n")[0]).toBe(
    "I am cody's offline model, a small program, not a language model. I can:",
  );
  expect(offlineReply(requestOf([]))).toEqual({ type: "text", text: answerTo("help") });
});

test("every text gets an answer", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "binary" }), { minLength: 1, maxLength: 5 }), (texts) => {
      expect(answerTo(...texts)).not.toBe("");
    }),
  );
});

test.each(["a", "(", "1+", "my ", "my a is b and ", "## Goal\n", "what is ", " ", "a.b/", '"'])(
  "a megabyte of %j is answered in time",
  (text) => {
    const long = text.repeat(1_000_000 / text.length);
    expect(answerTo(long)).not.toBe("");
    expect(answerTo(long, "provide a concise summary")).toContain("## Goal");
    expect(answerTo(`read ${long}`)).not.toBe("");
  },
);
