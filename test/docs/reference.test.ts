import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import * as library from "../../src/index.js";
import { openConversation } from "../support/open-conversation.js";
import { scripted } from "../support/scripted-provider.js";
import { exportedNames } from "./exported-names.js";

test.each(["index", "public/compaction", "public/rollouts", "public/testing"])(
  "the guide names everything that %s exports",
  async (module) => {
    const named = namesIn(await page("library.md"));
    expect((await exportedNames(module)).filter((name) => !named.has(name))).toEqual([]);
  },
);

test("every exported name is covered by the guide check", async () => {
  expect(await exportedNames("index")).toEqual(expect.arrayContaining(Object.keys(library)));
});

test("the migration page names everything that moved to a subpath", async () => {
  const named = namesIn(await page("migration.md"));
  expect((await exportedNames("public/deprecated")).filter((name) => !named.has(name))).toEqual([]);
});

test("the guide names exactly the members of a manager and a conversation", async () => {
  const guide = await page("library.md");
  const { manager, conversation } = await openConversation({ provider: scripted([]) });
  expect(namedInTable(guide, "| method ")).toEqual(membersOf(manager));
  expect(namedInTable(guide, "| member ")).toEqual(membersOf(conversation));
});

test("the reference names every submission and every event", async () => {
  const reference = await page("protocol.md");
  const types = [...library.Op.options, ...library.EventMsg.options].flatMap(({ shape }) => [...shape.type.values]);
  expect(types.filter((type) => !reference.includes(`\`${type}\``))).toEqual([]);
});

test("the file format names every record", async () => {
  const format = await page("file-format.md");
  const types = library.CodyPayload.options.flatMap(({ shape }) => [...shape.type.values]);
  expect(types.filter((type) => !format.includes(`\`${type}\``))).toEqual([]);
});

/** The words in the code spans of a page. */
function namesIn(text: string): Set<string> {
  return new Set(Array.from(text.matchAll(/`([^`\n]+)`/g), ([, code = ""]) => code.split(/\W+/)).flat());
}

/** The names in the first column of a table. */
function namedInTable(guide: string, head: string): string[] {
  const rows = guide.slice(guide.indexOf(head)).split("\n\n")[0]?.split("\n").slice(2) ?? [];
  const names = rows.flatMap((row) =>
    Array.from((row.split("|")[1] ?? "").matchAll(/`(\w+)/g), ([, name = ""]) => name),
  );
  return names.toSorted();
}

function membersOf(value: object): string[] {
  const names = [...Object.keys(value), ...Object.getOwnPropertyNames(Object.getPrototypeOf(value))];
  return names.filter((name) => name !== "constructor").toSorted();
}

async function page(name: string): Promise<string> {
  return await readFile(new URL(`../../docs/${name}`, import.meta.url), "utf8");
}
