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

/** We report these as damage: an invalid line before the last newline is never skipped. Codex skips it. */
const damagedAtLine: Readonly<Record<string, number>> = {
  "garbage line + truncated last line": 7,
  // Codex refuses it as well: this field says how the history is stored.
  "history_mode unknown": 1,
};

const asked = ["user:Old question"];
const whole = [...asked, "assistant:Old answer"];

/** Rollouts that Codex did not resume and we read: nothing in them is damaged, and the file name contains the id. */
const readOnlyByUs: Readonly<Record<string, readonly string[]>> = {
  // The first line is skipped and counted. Its fields describe the conversation but are not part of the history.
  "drop meta.timestamp": whole,
  "drop meta.cwd": whole,
  "drop meta.originator": whole,
  "drop meta.cli_version": whole,
  "drop meta.id": whole,
  "session_meta is the 2nd line": [...asked, ...whole],
  // A missing time does not affect the content.
  "no line timestamps": whole,
  "empty file": [],
  // Codex does not know this provider; here the provider is chosen when the conversation is resumed.
  "other model_provider": whole,
  // Only a writer needs the ordinals.
  "paginated without ordinals": whole,
  // Codex does not find these files by their names, and starts a new conversation for the second.
  "filename without rollout- prefix": whole,
  "non-uuid id": whole,
};

/** Histories that Codex fixes when it builds a request. We read them unchanged, and our normalizer fixes them too. */
const fixedInRequests: Readonly<Record<string, readonly string[]>> = {
  "ghost_snapshot item": [...whole, "ghost_snapshot"],
  "function_call without output": [...whole, "function_call"],
  "function_call_output without call": [...whole, 'function_call_output="x"'],
  "function_call_output object {content,success}": [...whole, "function_call"],
};

/** Lines that Codex drops and we keep, in the history and in requests. */
const keptByUs: Readonly<Record<string, readonly string[]>> = {
  "no line timestamp except meta": whole,
  // The specification writes text parts like this.
  'content type "text"': whole,
};

/** Cases in which our requests differ from those of Codex on purpose. */
const differingRequests: Readonly<Record<string, readonly string[]>> = {
  ...keptByUs,
  // A crash also leaves a call without its output. The call may have had an effect, so its output is reported as
  // unknown.
  "function_call without output": [...whole, "function_call", 'function_call_output="interrupted, result unknown"'],
  "function_call_output object {content,success}": [
    ...whole,
    "function_call",
    'function_call_output="interrupted, result unknown"',
  ],
  // The API ignores reasoning without encrypted content and reasoning that no other item follows.
  "reasoning minimal": whole,
  "reasoning without encrypted_content key": whole,
};

test("the tables name existing cases and cover every case that Codex did not resume", () => {
  expect(cases).toHaveLength(45);
  const names = new Set(cases.map(({ name }) => name));
  for (const table of [damagedAtLine, readOnlyByUs, fixedInRequests, differingRequests]) {
    expect(Object.keys(table).filter((name) => !names.has(name))).toEqual([]);
  }
  const notResumed = cases.filter((one) => !wasResumed(one)).map(({ name }) => name);
  expect(new Set(notResumed)).toEqual(new Set([...Object.keys(readOnlyByUs), "history_mode unknown"]));
});

describe("a damaged handmade rollout is refused with the number of the damaged line", () => {
  test.each(Object.entries(damagedAtLine))("%s", async (name, line) => {
    const failure = await historyOf(caseOf(name)).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(CorruptedRolloutError);
    expect(failure).toMatchObject({ line });
  });
});

describe("a handmade rollout is read the same as by Codex", () => {
  test.each(resumedByBoth().map(({ name }) => name))("%s", async (name) => {
    expect((await historyOf(caseOf(name))).map(described)).toEqual(
      keptByUs[name] ?? fixedInRequests[name] ?? promptOf(name),
    );
  });
});

describe("a handmade rollout produces the same request as Codex", () => {
  test.each(resumedByBoth().map(({ name }) => name))("%s", async (name) => {
    const history = await historyOf(caseOf(name));
    // A request always ends with the user's next message and is never empty.
    const sent = normalizeHistory("responses", [...history, next], "gpt-5.5").slice(0, -1);
    expect(sent.map(described)).toEqual(differingRequests[name] ?? promptOf(name));
  });
});

describe("a handmade rollout that Codex refuses is read with its valid items", () => {
  test.each(Object.entries(readOnlyByUs))("%s", async (name, history) => {
    expect((await historyOf(caseOf(name))).map(described)).toEqual(history);
  });
});

const next: ResponseItem = { type: "message", role: "user", content: [{ type: "input_text", text: "New question" }] };

function resumedByBoth(): Case[] {
  return cases.filter((one) => wasResumed(one) && !(one.name in damagedAtLine));
}

/** For an id that is not a UUID Codex reports a resume but starts a new conversation. */
function wasResumed({ name, codex }: Case): boolean {
  return codex["0.166.0"].resume_by_id && name !== "non-uuid id";
}

function caseOf(name: string): Case {
  const found = cases.find((one) => one.name === name);
  if (found === undefined) throw new Error(`no case ${name}`);
  return found;
}

/** The prompt Codex sent, without the question it was resumed with. */
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

/** Describes an item in the notation of the cases, which show thirty characters of an output. */
function described(item: ResponseItem): string {
  if (item.type === "message") return `${item.role}:${messageText(item)}`;
  if (item.type === "function_call_output") return `${item.type}=${JSON.stringify(item.output).slice(0, 30)}`;
  return item.type;
}
