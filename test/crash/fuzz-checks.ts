import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileLines, foldLines } from "../../src/actors/conversation/store/load-rollout.js";
import type { StoredLines, StoredState } from "../../src/actors/conversation/store/store.js";
import { CorruptedRolloutError } from "../../src/base/errors.js";
import type { ModelRequest } from "../../src/messages/model.js";
import type { OwnLine } from "../../src/messages/rollout-line.js";
import { anthropicRequest } from "../../src/providers/messages/request-body.js";
import { chatBody } from "../../src/providers/chat/request-body.js";
import { responsesBody } from "../../src/providers/responses/request-body.js";
import { readHeadBytes } from "../../src/rollouts/list/head.js";
import { nodeRepairFiles } from "../../src/rollouts/file/replacement.js";
import { needsRepair, scanRollout } from "../../src/rollouts/repair/repair-scan.js";
import { repairRollout } from "../../src/rollouts/repair/repair-write.js";
import { TurnGrouping } from "../../src/rollouts/turns.js";
import { secret } from "./fuzz-sources.js";

export interface ReadingCheck {
  readonly outcome: "read" | "refused";
  /** How many lines were read. */
  readonly lines: number;
  readonly isDamaged: boolean;
  /** The violated expectations, in a few words each. */
  readonly wrong: readonly string[];
}

const conversationId = "conv_fuzzed";
const maxMessageChars = 500;
const now = new Date("2026-11-16T00:00:00.000Z");
/** Skips fsync: durability is not tested here, and syncing would take most of the time. */
const files = { ...nodeRepairFiles, fsync: () => Promise.resolve() };
const request = { conversationId, model: "gpt-5", instructions: "", tools: [], effort: null };

/** Reads a file as for a resume and as for a damage check, and returns every violated expectation. */
export async function checkReading(path: string, content: Buffer): Promise<ReadingCheck> {
  writeFileSync(path, content);
  const wrong = new Set<string>();
  const must = (holds: boolean, words: string): unknown => holds || wrong.add(words);
  const lineCount = content.toString("latin1").split("\n").length;
  const read = await refusedOr(foldLines(grouped(fileLines(path, conversationId))));
  const scan = await scanRollout({ path, conversationId });
  readHeadBytes(content, content.length);
  must(content.equals(readFileSync(path)), "the file was changed");
  must(!JSON.stringify([scan.damaged, scan.beginning]).includes(secret), "what is said of the damage quotes the file");
  const isDamaged = needsRepair(scan);
  if (!(read instanceof CorruptedRolloutError)) {
    must(read.bytes <= content.length, "more was read than there is");
    expectSendable(read);
    return { outcome: "read", lines: lineCount, isDamaged, wrong: [...wrong] };
  }
  must(Number.isInteger(read.line) && read.line >= 1 && read.line <= lineCount, "the error names no line of the file");
  must(read.message.length <= maxMessageChars, "the error is too long");
  must(!read.message.includes(secret), "the error quotes the file");
  must(isDamaged || scan.beginning !== undefined, "nothing was found in a file that is refused");
  return { outcome: "refused", lines: read.line, isDamaged, wrong: [...wrong] };
}

/** Repairs a damaged file, and returns every violated expectation. */
export async function checkRepair(path: string, content: Buffer): Promise<string[]> {
  writeFileSync(path, content);
  const wrong = new Set<string>();
  const must = (holds: boolean, words: string): unknown => holds || wrong.add(words);
  const { backup, scan } = await repairRollout(files, { path, conversationId, now, uid: process.getuid?.() ?? 0 });
  must(backup !== undefined && content.equals(readFileSync(backup)), "the original was not kept");
  if (backup !== undefined) rmSync(backup);
  must(!needsRepair(await scanRollout({ path, conversationId })), "a second repair finds something");
  const read = await refusedOr(foldLines(fileLines(path, conversationId)));
  if (read instanceof CorruptedRolloutError) must(scan.beginning !== undefined, "what was repaired is refused");
  else must(read.state.history.length === scan.history.items, "the history is not what the repair says");
  return [...wrong];
}

/** Any error other than CorruptedRolloutError is a violation. */
async function refusedOr(reading: Promise<StoredState>): Promise<StoredState | CorruptedRolloutError> {
  return await reading.catch((error: unknown) => {
    if (error instanceof CorruptedRolloutError) return error;
    throw error;
  });
}

/** Passes the lines on, and feeds each of them to the turn grouping as well. */
function grouped(lines: StoredLines): StoredLines {
  const turns = new TurnGrouping();
  return {
    end: lines.end,
    async *[Symbol.asyncIterator](): AsyncGenerator<readonly OwnLine[]> {
      for await (const batch of lines) {
        for (const line of batch) turns.add(line);
        yield batch;
      }
    },
  };
}

/** Checks that a history that was read can be sent over every API. */
function expectSendable({ state }: StoredState): void {
  const input: ModelRequest["input"] = state.history;
  for (const body of [chatBody, responsesBody, anthropicRequest]) JSON.stringify(body({ ...request, input }));
}
