import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { fileLines, foldLines } from "../../../src/actors/conversation/store/load-rollout.js";
import { CorruptedRolloutError } from "../../../src/base/errors.js";
import { messageText, type ResponseItem } from "../../../src/messages/response-item.js";
import { normalizeHistory } from "../../../src/providers/normalize/normalize-history.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

interface Case {
  readonly name: string;
  readonly lines: readonly string[];
  readonly ends_with_newline: boolean;
  readonly codex: { readonly "0.166.0": { readonly resume_by_id: boolean; readonly prompt: readonly string[] } };
}

const file = fileURLToPath(new URL("../../fixtures/codex/handmade/cases.json", import.meta.url));
const cases = JSON.parse(readFileSync(file, "utf8")) as Case[];

/** Damage in our eyes (K-12, Z2): what is wrong before the last newline is never passed over. Codex passes over it. */
const corrupted: Readonly<Record<string, number>> = {
  "garbage line + truncated last line": 7,
  // Codex refuses it as well: this word says how the history is to be found.
  "history_mode unknown": 1,
};

const asked = ["user:Old question"];
const whole = [...asked, "assistant:Old answer"];

/** What Codex did not resume, and we read: nothing in it is damage, and whose it is says the name of the file. */
const onlyOurs: Readonly<Record<string, readonly string[]>> = {
  // The first line is passed over, with a word about it. Its fields describe the conversation and are no part of it.
  "drop meta.timestamp": whole,
  "drop meta.cwd": whole,
  "drop meta.originator": whole,
  "drop meta.cli_version": whole,
  "drop meta.id": whole,
  "session_meta is the 2nd line": [...asked, ...whole],
  // When something was said is not what was said.
  "no line timestamps": whole,
  "empty file": [],
  // Codex does not have this provider; who answers here is settled when the conversation is resumed.
  "other model_provider": whole,
  // Only a writer needs ordinals.
  "paginated without ordinals": whole,
  // Codex does not find these files by their names, and begins a new conversation for the second.
  "filename without rollout- prefix": whole,
  "non-uuid id": whole,
};

/** What Codex puts right when it makes a request: reading leaves it as it is, and the normaliser does the same. */
const putRightLater: Readonly<Record<string, readonly string[]>> = {
  "ghost_snapshot item": [...whole, "ghost_snapshot"],
  "function_call without output": [...whole, "function_call"],
  "function_call_output without call": [...whole, 'function_call_output="x"'],
  "function_call_output object {content,success}": [...whole, "function_call"],
};

/** Lines that Codex drops and we do not, in the history and in requests. */
const keptByUs: Readonly<Record<string, readonly string[]>> = {
  "no line timestamp except meta": whole,
  // The founding documents write text parts like this.
  'content type "text"': whole,
};

/** Where our requests differ from those of Codex, on purpose. */
const sentOtherwise: Readonly<Record<string, readonly string[]>> = {
  ...keptByUs,
  // A crash, too, leaves a call without its output, and it may have had an effect: the model is told what is known (I5).
  "function_call without output": [...whole, "function_call", 'function_call_output="interrupted, result unknown"'],
  "function_call_output object {content,success}": [
    ...whole,
    "function_call",
    'function_call_output="interrupted, result unknown"',
  ],
  // Reasoning that is not sealed says nothing to the API, and neither does one that leads to nothing (I6).
  "reasoning minimal": whole,
  "reasoning without encrypted_content key": whole,
};

test("every case is one of these", () => {
  expect(cases).toHaveLength(45);
  const names = new Set(cases.map(({ name }) => name));
  for (const table of [corrupted, onlyOurs, putRightLater, sentOtherwise]) {
    expect(Object.keys(table).filter((name) => !names.has(name))).toEqual([]);
  }
  const notResumed = cases.filter((one) => !wasResumed(one)).map(({ name }) => name);
  expect(new Set(notResumed)).toEqual(new Set([...Object.keys(onlyOurs), "history_mode unknown"]));
});

describe("a handmade rollout is damage, with the number of its line", () => {
  test.each(Object.entries(corrupted))("%s", async (name, line) => {
    const failure = await historyOf(caseOf(name)).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(CorruptedRolloutError);
    expect(failure).toMatchObject({ line });
  });
});

describe("a handmade rollout is read as Codex reads it", () => {
  test.each(resumedByBoth().map(({ name }) => name))("%s", async (name) => {
    expect((await historyOf(caseOf(name))).map(described)).toEqual(
      keptByUs[name] ?? putRightLater[name] ?? promptOf(name),
    );
  });
});

describe("a handmade rollout becomes the request of Codex", () => {
  test.each(resumedByBoth().map(({ name }) => name))("%s", async (name) => {
    const history = await historyOf(caseOf(name));
    // What a user says next is always there, and an empty request never made.
    const sent = normalizeHistory("responses", [...history, next], "gpt-5.5").slice(0, -1);
    expect(sent.map(described)).toEqual(sentOtherwise[name] ?? promptOf(name));
  });
});

describe("a handmade rollout that Codex refuses is read for what it holds", () => {
  test.each(Object.entries(onlyOurs))("%s", async (name, history) => {
    expect((await historyOf(caseOf(name))).map(described)).toEqual(history);
  });
});

const next: ResponseItem = { type: "message", role: "user", content: [{ type: "input_text", text: "New question" }] };

function resumedByBoth(): Case[] {
  return cases.filter((one) => wasResumed(one) && !(one.name in corrupted));
}

/** For an id that is no UUID Codex says it has resumed, and has begun a new conversation. */
function wasResumed({ name, codex }: Case): boolean {
  return codex["0.166.0"].resume_by_id && name !== "non-uuid id";
}

function caseOf(name: string): Case {
  const found = cases.find((one) => one.name === name);
  if (found === undefined) throw new Error(`no case ${name}`);
  return found;
}

/** What Codex sent, without the question it was resumed with. */
function promptOf(name: string): readonly string[] {
  const { prompt } = caseOf(name).codex["0.166.0"];
  expect(prompt.at(-1)).toBe("user:New question");
  return prompt.slice(0, -1);
}

async function historyOf({ lines, ends_with_newline }: Case): Promise<readonly ResponseItem[]> {
  const path = join(await temporaryFolder(), "rollout.jsonl");
  await writeFile(path, lines.join("\n") + (ends_with_newline && lines.length > 0 ? "\n" : ""));
  return (await foldLines(fileLines(path, "conv"))).state.history;
}

/** An item in the words of the cases, which show thirty characters of an output. */
function described(item: ResponseItem): string {
  if (item.type === "message") return `${item.role}:${messageText(item)}`;
  if (item.type === "function_call_output") return `${item.type}=${JSON.stringify(item.output).slice(0, 30)}`;
  return item.type;
}
