import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { fileLines, foldLines } from "../../../src/actors/conversation/store/load-rollout.js";
import type { ResponseItem } from "../../../src/messages/response-item.js";
import { normalizeHistory } from "../../../src/providers/normalize/normalize-history.js";
import { readRollout } from "../../../src/rollouts/file/read.js";
import { TurnGrouping } from "../../../src/rollouts/turns.js";

interface ManifestEntry {
  readonly file: string;
  readonly ghost_snapshots: number;
  /** Null for the one file that was never resumed. */
  readonly history_items: number | null;
}

const fixtures = fileURLToPath(new URL("../../fixtures/codex/", import.meta.url));
const rollouts = JSON.parse(readFileSync(`${fixtures}manifest.json`, "utf8")) as ManifestEntry[];
const resumed = rollouts.filter(({ history_items }) => history_items !== null);

/** Keys that the expected histories omit at every depth: ids, states and metadata. */
const omittedKeys = new Set(["id", "status", "annotations", "metadata", "internal_chat_message_metadata_passthrough"]);

test("the fixtures contain rollouts of three Codex versions", () => {
  expect(resumed).toHaveLength(45);
  expect(new Set(rollouts.map(({ file }) => file.split("/")[0]))).toEqual(new Set(["v0.58.0", "v0.147.0", "v0.166.0"]));
});

describe("a Codex rollout is read the same as by Codex", () => {
  test.each(resumed.map((entry) => [entry.file, entry] as const))(
    "%s",
    async (file, { ghost_snapshots, history_items }) => {
      const { history } = await folded(file);
      // We keep ghost snapshots for undo; Codex 0.166 drops them when it reads a rollout.
      const ghosts = history.filter(({ type }) => type === "ghost_snapshot");
      expect(ghosts).toHaveLength(ghost_snapshots);
      const rest = history.filter((item) => !ghosts.includes(item));
      expect(rest).toHaveLength(history_items ?? 0);
      expect(rest.map(bare)).toEqual(oracle(file));
    },
  );
});

describe("no line of a Codex rollout is skipped as unknown", () => {
  test.each(rollouts.map(({ file }) => file))("%s", async (file) => {
    expect(await foldLines(fileLines(fixtures + file, file))).toMatchObject({ skipped: 0 });
  });
});

describe("the turns of a Codex rollout contain the items of its history in order", () => {
  test.each(rollouts.map(({ file }) => file))("%s", async (file) => {
    const turns = new TurnGrouping();
    for await (const { line } of readRollout(fixtures + file, file)) turns.add(line);
    expect(turns.turns.flatMap(({ items }) => items)).toEqual((await folded(file)).history);
  });
});

/**
 * Items that Codex sends and the normalizer leaves out on purpose: the provider expects them under ids we do not keep,
 * or cannot decrypt them with another key. They stay in the history.
 */
const leftOut = new Set(["compaction", "tool_search_call", "tool_search_output"]);

describe("the request to the Responses API is the same as that of Codex", () => {
  test.each(resumed.map(({ file }) => file))("%s", async (file) => {
    const { history } = await folded(file);
    const expected = oracle(file).filter(({ type }) => !leftOut.has(type));
    expect(normalizeHistory("responses", history, "gpt-5.5").map(bare)).toEqual(expected);
  });

  test("three rollouts contain items that only their provider can read and that are left out", () => {
    const lacking = resumed.filter(({ file }) => oracle(file).some(({ type }) => leftOut.has(type)));
    expect(lacking.map(({ file }) => file.split("/").slice(0, 2).join("/"))).toEqual([
      "v0.147.0/compact-remote",
      "v0.147.0/mcp",
      "v0.166.0/compact-remote",
    ]);
  });
});

async function folded(file: string) {
  const { state } = await foldLines(fileLines(fixtures + file, file));
  return state;
}

/** `summary: true` is our own flag on summary messages; the `summary` of a reasoning item is a list. */
function isOmitted(key: string, part: unknown): boolean {
  return omittedKeys.has(key) || (key === "summary" && part === true);
}

function bare(item: ResponseItem): unknown {
  return JSON.parse(JSON.stringify(item, (key, part: unknown) => (isOmitted(key, part) ? undefined : part)));
}

function oracle(file: string): { type: string }[] {
  const text = readFileSync(fixtures + file.replace(/\.jsonl$/, ".history.json"), "utf8");
  return JSON.parse(text) as { type: string }[];
}
