import { appendFile, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readPins, readPinsSync, withPins, writePin } from "../../../src/rollouts/list/names-and-pins.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const uuid = "01a1e278-c9af-73b9-84ae-93f3a1bd5b54";
const id = `conv_${uuid}`;
const at = Date.parse("2026-11-16T00:00:00Z");

async function indexPath(): Promise<string> {
  return join(await temporaryFolder(), ".pins.jsonl");
}

/** The synchronous and the asynchronous reader must agree. */
async function pinned(path: string): Promise<string[]> {
  const pins = await readPins(path);
  expect(readPinsSync(path)).toEqual(pins);
  return withPins([{ id }, { id: "my-own" }], pins).flatMap((one) => (one.pinned === true ? [one.id] : []));
}

test("a pin is a line in a file private to its user, and another line removes it", async () => {
  const path = await indexPath();
  await writePin(path, id, { pinned: true, pinnedAt: at }, "pin");
  expect(await readFile(path, "utf8")).toBe(`{"id":"${uuid}","pinned":true,"updated_at":"2026-11-16T00:00:00.000Z"}\n`);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await pinned(path)).toEqual([id]);
  await writePin(path, id, { pinned: false, pinnedAt: at }, "pin");
  expect(await pinned(path)).toEqual([]);
});

test("an unchanged pin is not written again, and a repair does not overwrite a newer one", async () => {
  const path = await indexPath();
  await writePin(path, id, { pinned: false, pinnedAt: at }, "pin");
  expect(await readPins(path)).toEqual(new Map());
  await writePin(path, id, { pinned: true, pinnedAt: at }, "repair");
  await writePin(path, id, { pinned: false, pinnedAt: at - 1 }, "repair");
  await writePin(path, id, { pinned: true, pinnedAt: at + 1 }, "pin");
  expect((await readFile(path, "utf8")).split("\n")).toHaveLength(2);
  expect(await pinned(path)).toEqual([id]);
});

test("invalid entries are ignored, and a torn line does not affect the next", async () => {
  const path = await indexPath();
  await appendFile(path, `{"id":"../x","pinned":true}\n{"id":"${uuid}","pinned":1}\n[]\n{"id":"${uuid}","pin`);
  await writePin(path, "my-own", { pinned: true, pinnedAt: at }, "pin");
  expect(await pinned(path)).toEqual(["my-own"]);
});
