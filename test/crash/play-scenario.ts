import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { SaveOutcome } from "../../src/messages/actors/rollout-writer.js";
import { FaultyDisk, type FaultPoint } from "./faulty-disk.js";
import { IoCalls } from "./io-calls.js";
import { newScene, scenarios, tornTail, type ScenarioName } from "./io-scenarios.js";
import { numberedLines, upTo } from "./numbered-lines.js";

export interface Played {
  /** The names of the calls that were made. */
  readonly calls: readonly string[];
  /** How often lines were reported as saved, and as not saved. */
  readonly saved: number;
  readonly notSaved: number;
  readonly writtenBytes: number;
}

/** Plays a scenario, with a fault or without, and checks the disk whenever lines are reported as saved. */
export async function playScenario(name: ScenarioName, folder: string, point?: FaultPoint): Promise<Played> {
  const scenario = scenarios[name];
  const scene = await newScene(folder);
  await scenario.prepare(scene);
  const disk = new FaultyDisk(point);
  const count = { saved: 0, not_saved: 0, off: 0 };
  using calls = new IoCalls(scene.directory, (call) => disk.perform(call));
  await scenario.play({
    ...scene,
    fileSystem: calls.fileSystem,
    quiet: () => calls.quiet(),
    heal: () => disk.heal(),
    opened: (_conversation, { status }) => assert.notEqual(status, "in_use"),
    answered: (conversation, through, outcome) => {
      count[outcome.status] += 1;
      checkAnswer(disk, join(scene.directory, `${conversation}.jsonl`), conversation, through, outcome);
    },
  });
  for (const [conversation, through] of Object.entries(scenario.last)) {
    const content = readFileSync(join(scene.directory, `${conversation}.jsonl`), "utf8");
    assert.equal(content, numberedLines(conversation, upTo(through)).toString());
  }
  checkBeside(disk, scene.directory, name, point);
  return { calls: calls.names, saved: count.saved, notSaved: count.not_saved, writtenBytes: disk.durable.writtenBytes };
}

function checkAnswer(
  disk: FaultyDisk,
  path: string,
  conversation: string,
  through: number,
  outcome: SaveOutcome,
): void {
  if (outcome.status === "saved") {
    const expected = numberedLines(conversation, upTo(through)).toString();
    assert.equal(readFileSync(path, "utf8"), expected, "the file");
    assert.equal(disk.durable.contentOf(path)?.toString(), expected, "what a power failure would leave");
    return;
  }
  assert(outcome.status === "not_saved" && disk.hasFailed, "not saved although nothing is wrong");
  assert.match(outcome.reason, /^(?!.*secret)[a-z][a-z /]+$/);
}

/** Checks the files beside the rollouts: the torn tail is stored whole and once, and no lock files are left. */
function checkBeside(disk: FaultyDisk, directory: string, name: ScenarioName, point: FaultPoint | undefined): void {
  const beside = readdirSync(directory).filter((entry) => !entry.endsWith(".jsonl"));
  const kept = beside.filter((entry) => entry.includes(".torn-"));
  const contents = kept.map((entry) => disk.durable.contentOf(join(directory, entry))?.toString());
  assert.deepEqual(contents, name === "crashed" ? [tornTail.toString()] : []);
  // A failed lock call may leave a file that could not be removed.
  if (point?.call.startsWith("lock") === true) return;
  assert.deepEqual(
    beside.filter((entry) => !kept.includes(entry)),
    [],
  );
}
