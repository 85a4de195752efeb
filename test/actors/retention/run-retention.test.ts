import { appendFile, mkdir, readdir, readFile, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runRetention } from "../../../src/actors/retention/run-retention.js";
import { conversationPlaces } from "../../../src/config/paths.js";
import type { RetentionSettings } from "../../../src/config/settings/effective-settings.js";
import { writeName, writePin } from "../../../src/rollouts/list/names-and-pins.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const day = 24 * 60 * 60 * 1000;
const start = Date.parse("2026-11-16T00:00:00Z");
const days = { retentionDays: 30, maxConversationsPerProject: undefined };

function record(payload: object): string {
  return `${JSON.stringify({ timestamp: "", type: "cody", payload })}\n`;
}

async function newHome() {
  const home = await temporaryFolder();
  const env = { XDG_RUNTIME_DIR: await temporaryFolder() };
  const directory = join(home, "conversations");
  await mkdir(directory);
  const shown: string[] = [];

  async function put(id: string, ageDays: number, cwd = "/", lines = ""): Promise<string> {
    const path = join(directory, `${id}.jsonl`);
    const timestamp = new Date(start).toISOString();
    const payload = { id, timestamp, cwd, originator: "cody", cli_version: "0", source: "cli" };
    await writeFile(path, `${JSON.stringify({ timestamp, type: "session_meta", payload })}\n${lines}`);
    await utimes(path, (start - ageDays * day) / 1000, (start - ageDays * day) / 1000);
    return path;
  }

  /** Runs retention the given number of days after the start. */
  function run(after: number, settings: RetentionSettings = days, isSeen = true) {
    return runRetention({
      places: conversationPlaces({ home, codexHome: undefined, persistence: {} }),
      env,
      now: () => new Date(start + after * day),
      settings,
      show: async (notice) => {
        if (isSeen) shown.push(notice);
        return isSeen;
      },
    });
  }

  /** Runs retention on each day of the range and returns the ids moved to the trash. */
  async function everyDay(first: number, last: number, settings: RetentionSettings = days): Promise<string[]> {
    const gone: string[] = [];
    for (let after = first; after <= last; after += 1) {
      const { trashed } = await run(after, settings);
      gone.push(...trashed.successes.map(({ sessionId }) => sessionId));
    }
    return gone;
  }
  return { home, directory, shown, put, run, everyDay };
}

test("the first run only announces what will be trashed and how to keep it; a week later it is trashed with a one-line notice", async () => {
  const { home, shown, put, run, everyDay } = await newHome();
  await put("old", 31);
  await put("new", 5);
  const report = await run(0);
  expect(report).toMatchObject({ status: "ran", announced: ["old"], trashed: { deletedCount: 0 } });
  expect(shown).toEqual([
    "From 2026-11-23 on 1 conversation will be moved to the trash:\n" +
      "  old, last changed 2026-10-16, older than 30 days\n" +
      "To keep one: cody pin <id>. To keep all: cody config set persistence.retentionDays 0",
  ]);
  expect(await run(0.5)).toMatchObject({ status: "not_yet" });
  expect(await everyDay(1, 6)).toEqual([]);
  expect(shown.at(-1)).toBe(shown[0]?.replace("From", "As announced, from"));
  expect(await everyDay(7, 7)).toEqual(["old"]);
  expect(shown.at(-1)).toBe(
    "As announced, 1 conversation is now in the trash: old. To restore one: cody undelete <id>",
  );
  const audit = (await readFile(join(home, "retention.jsonl"), "utf8")).trimEnd().split("\n");
  expect(audit.map((line) => JSON.parse(line))).toMatchObject([
    { action: "announced", ids: ["old"] },
    { action: "trashed", id: "old", why: "retention", bytes: expect.any(Number) },
  ]);
});

test("a trashed conversation is permanently deleted after thirty days and a second announcement", async () => {
  const { home, shown, put, everyDay } = await newHome();
  await put("old", 31);
  await everyDay(0, 7);
  await everyDay(8, 37);
  expect(shown.at(-1)).toBe(
    "From 2026-12-30 on 1 conversation will be permanently deleted from the trash:\n" +
      "  old, deleted 2026-11-23\nTo restore one: cody undelete <id>",
  );
  await everyDay(38, 43);
  expect(shown.at(-1)).toContain(
    "As announced, from 2026-12-30 on 1 conversation will be permanently deleted from the trash",
  );
  expect(shown.at(-1)).toContain("To restore one: cody undelete <id>");
  expect(await readdir(join(home, "trash"))).toHaveLength(1);
  await everyDay(44, 44);
  expect(shown.at(-1)).toBe("As announced, 1 conversation is now permanently deleted from the trash: old");
  expect(await readdir(join(home, "trash"))).toEqual([]);
});

test("an announcement that was not shown does not count", async () => {
  const { home, put, run, everyDay } = await newHome();
  await put("old", 31);
  for (let after = 0; after < 20; after += 1)
    expect(await run(after, days, false)).toMatchObject({ status: "not_shown" });
  expect(await readdir(home)).toEqual(["conversations"]);
  expect(await everyDay(20, 26)).toEqual([]);
  expect(await everyDay(27, 27)).toEqual(["old"]);
});

test("pinned and named conversations stay even without their index, and other files are left alone", async () => {
  const { directory, put, everyDay, run } = await newHome();
  await put("pinned-in-index", 40);
  await writePin(join(directory, ".pins.jsonl"), "pinned-in-index", { pinned: true, pinnedAt: start }, "pin");
  await put("named-in-index", 40);
  await writeName(join(directory, ".names.jsonl"), "named-in-index", { name: "x", namedAt: start }, "rename");
  await put("pinned", 40, "/", record({ type: "pinned", pinned: true }));
  await put("named", 40, "/", record({ type: "named", name: "x" }));
  await put("unpinned", 40, "/", record({ type: "pinned", pinned: true }) + record({ type: "pinned", pinned: false }));
  await writeFile(join(directory, "foreign.jsonl"), '{"type":"event","value":1}\n');
  await writeFile(join(directory, "damaged.jsonl"), "\0\0\0\n");
  await symlink(await put("target", 0), join(directory, "linked.jsonl"));
  for (const name of ["foreign", "damaged"]) await utimes(join(directory, `${name}.jsonl`), 0, 0);
  expect((await run(0)).announced.toSorted()).toEqual(["named", "pinned", "unpinned"]);
  expect(await everyDay(1, 7)).toEqual(["unpinned"]);
});

test("continuing a conversation or turning retention off keeps it", async () => {
  const { put, everyDay } = await newHome();
  const path = await put("old", 40);
  await everyDay(0, 6);
  await appendFile(path, "\n");
  expect(await everyDay(7, 20)).toEqual([]);
  const other = await newHome();
  await other.put("old", 40);
  await other.everyDay(0, 6);
  expect(await other.everyDay(7, 20, { ...days, retentionDays: undefined })).toEqual([]);
});

test("maxConversationsPerProject keeps the newest conversations of each project", async () => {
  const { put, run, shown } = await newHome();
  const [a, b] = [await temporaryFolder(), await temporaryFolder()];
  for (const number of [1, 2, 3]) await put(`a${number}`, number, a);
  for (const number of [1, 2]) await put(`b${number}`, number, b);
  const settings = { retentionDays: undefined, maxConversationsPerProject: 2 };
  expect((await run(0, settings)).announced).toEqual(["a3"]);
  expect(shown[0]).toContain("more than 2 in its project");
});

test("a notice names each reason and its setting, and a changed reason is announced again", async () => {
  const { put, run, everyDay, shown } = await newHome();
  const cwd = await temporaryFolder();
  await put("new", 1, cwd);
  await put("old", 40, cwd);
  await put("oldest", 41, cwd);
  const both = { retentionDays: 30, maxConversationsPerProject: 2 };
  await run(0, both);
  expect(shown[0]).toContain("  oldest, last changed 2026-10-06, older than 30 days, and more than 2 in its project\n");
  expect(shown[0]).toContain(
    "To keep all: cody config set persistence.retentionDays 0 and cody config set persistence.maxConversationsPerProject 0",
  );
  await run(1, both);
  const many = { retentionDays: undefined, maxConversationsPerProject: 2 };
  expect((await run(2, many)).announced).toEqual(["oldest"]);
  expect(shown.at(-1)).toBe(
    "From 2026-11-25 on 1 conversation will be moved to the trash:\n" +
      "  oldest, last changed 2026-10-06, more than 2 in its project\n" +
      "To keep one: cody pin <id>. To keep all: cody config set persistence.maxConversationsPerProject 0",
  );
  expect(await everyDay(3, 8, many)).toEqual([]);
  expect(await everyDay(9, 9, many)).toEqual(["oldest"]);
});

test("a notice shows the first message of each conversation on one line", async () => {
  const { put, everyDay, shown } = await newHome();
  const said = { type: "user_message", message: "fix\u0007 the build\nand more" };
  await put("old", 40, "/", `${JSON.stringify({ timestamp: "", type: "event_msg", payload: said })}\n`);
  await everyDay(0, 37);
  expect(shown[0]).toContain("  old (fix\\007 the build), last changed ");
  expect(shown[7]).toContain("is now in the trash: old (fix\\007 the build). To restore");
  expect(shown.at(-1)).toContain("  old (fix\\007 the build), deleted ");
});

test("following the advice in the notice keeps the announced conversations", async () => {
  const { put, everyDay } = await newHome();
  const cwd = await temporaryFolder();
  for (const [id, age] of Object.entries({ new: 1, old: 40, oldest: 41 })) await put(id, age, cwd);
  await everyDay(0, 1, { retentionDays: 30, maxConversationsPerProject: 2 });
  expect(await everyDay(2, 20, { retentionDays: undefined, maxConversationsPerProject: undefined })).toEqual([]);
});

test("a damaged or missing state file restarts the announcement", async () => {
  const { home, put, everyDay, run } = await newHome();
  await put("old", 40);
  await everyDay(0, 6);
  await writeFile(join(home, "retention.json"), '{"version":1,"ranAt":"');
  expect((await run(7)).announced).toEqual(["old"]);
  await everyDay(8, 13);
  await rm(join(home, "retention.json"));
  expect((await run(14)).announced).toEqual(["old"]);
});
