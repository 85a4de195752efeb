import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { nodeFileSystem } from "../../src/rollouts/file/file-system.js";
import { scenarios, tornTail, type ScenarioName, type Scene } from "./io-scenarios.js";
import { numberedLines, upTo } from "./numbered-lines.js";
import type { Report } from "./report.js";
import { Writing } from "./writing.js";

/**
 * Continues, as a new process would, the scenario of a process that died in the middle of it. Returns the number of
 * temporary files that the dead process left behind.
 */
export async function continueAfterDeath(
  scenario: ScenarioName,
  scene: Scene,
  reports: readonly Report[],
): Promise<number> {
  const writing = await Writing.begin({
    ...scene,
    fileSystem: nodeFileSystem,
    quiet: () => Promise.resolve(),
    heal: () => {},
    opened: (conversation, { status }) => assert.equal(status, "open", conversation),
    answered: (conversation, _line, { status }) => assert.equal(status, "saved", conversation),
  });
  const torn = scenario === "crashed" ? [tornTail.toString()] : [];
  for (const id of Object.keys(scenarios[scenario].last)) {
    const path = join(scene.directory, `${id}.jsonl`);
    const { last, rest } = leftIn(path, id);
    const acknowledged = reports.flatMap(({ conversation, line = 0 }) => (conversation === id ? line : []));
    assert(
      last >= Math.max(0, ...acknowledged),
      `of ${id} ${last} lines are left, acknowledged were ${acknowledged.join()}`,
    );
    if (rest !== "") torn.push(rest);
    const conversation = await writing.open(id, existsSync(path) ? "append" : "create", last);
    await conversation.say(last + 1);
    assert.equal(readFileSync(path, "utf8"), numberedLines(id, upTo(last + 1)).toString());
  }
  await writing.end();
  return checkBeside(scene.directory, torn);
}

/**
 * Returns the number of the last complete line and the text after it; asserts that all earlier lines are as written.
 */
function leftIn(path: string, id: string): { last: number; rest: string } {
  const content = existsSync(path) ? readFileSync(path, "utf8") : "";
  const end = content.lastIndexOf("\n") + 1;
  const last = content.slice(0, end).split("\n").length - 1;
  assert.equal(content.slice(0, end), numberedLines(id, upTo(last)).toString());
  return { last, rest: content.slice(end) };
}

/** Every torn tail is stored once, unless a later torn tail starts with it; no lock files are left. */
function checkBeside(directory: string, torn: readonly string[]): number {
  const beside = readdirSync(directory).filter((name) => !name.endsWith(".jsonl"));
  const kept = beside.filter((name) => name.includes(".torn-"));
  const contents = kept.map((name) => readFileSync(join(directory, name), "utf8"));
  const distinct = torn.filter((one, index) => !torn.slice(index + 1).some((later) => later.startsWith(one)));
  assert.deepEqual(contents.toSorted(), distinct.toSorted());
  const strays = beside.filter((name) => name.endsWith(".tmp"));
  assert.deepEqual(beside, [...kept, ...strays].toSorted());
  return strays.length;
}
