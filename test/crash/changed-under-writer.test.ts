import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.js";
import { foreignChanges, type ForeignChange } from "./foreign-changes.js";
import { IoCalls } from "./io-calls.js";
import { newScene } from "./io-scenarios.js";
import { numberedLines, upTo } from "./numbered-lines.js";
import { summarize, timeoutMs } from "./rounds.js";
import { Writing } from "./writing.js";

interface Played {
  /** The numbers of the disk calls before which the file existed. */
  readonly calls: number[];
  readonly notSaved: number;
}

/** Writes a conversation and changes its file before the nth disk call. */
async function play(folder: string, change?: ForeignChange, at = Infinity): Promise<Played> {
  const scene = await newScene(folder);
  const path = join(scene.directory, "a.jsonl");
  let before: string | undefined;
  let notSaved = 0;
  const numbers: number[] = [];
  using calls = new IoCalls(scene.directory, (call) => {
    if (existsSync(path)) numbers.push(call.number);
    if (call.number === at) {
      before = readFileSync(path, "utf8");
      change?.act(path);
    }
    return call.perform();
  });
  const writing = await Writing.begin({
    ...scene,
    fileSystem: calls.fileSystem,
    quiet: () => calls.quiet(),
    heal: () => {},
    opened: () => {},
    answered: (_conversation, last, { status }) => {
      if (status === "saved") {
        assert.equal(readFileSync(path, "utf8"), numberedLines("a", upTo(last)).toString());
        return;
      }
      assert(before !== undefined, "not saved although nothing has changed");
      notSaved += 1;
    },
  });
  const conversation = await writing.open("a", "create");
  await conversation.say(1);
  conversation.write(2);
  await calls.quiet();
  await conversation.say(3);
  await conversation.say(4);
  await writing.stop();
  if (before !== undefined) assert(change?.stays(path, before), "what others have done is undone");
  return { calls: numbers, notSaved };
}

test.each(foreignChanges.map((change) => [change.name, change] as const))(
  "a file that is %s before any disk call: only existing lines are acknowledged, and the other program's data is not lost",
  async (name, change) => {
    const folder = await temporaryFolder();
    const { calls } = await play(join(folder, "sound"));
    const sum = { notSaved: 0, wrong: [] as string[] };
    for (const at of calls) {
      try {
        sum.notSaved += (await play(join(folder, `${at}`), change, at)).notSaved;
      } catch (error) {
        sum.wrong.push(`call ${at}: ${(error as Error).message}`);
      }
    }
    expect(sum.wrong).toEqual([]);
    expect(sum.notSaved).toBeGreaterThan(0);
    summarize(
      `a file that is ${name} under its writer: before each of ${calls.length} calls, 0 wrong, ` +
        `${sum.notSaved} times "not saved"`,
    );
  },
  timeoutMs,
);
