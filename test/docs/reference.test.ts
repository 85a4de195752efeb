import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import * as library from "../../src/index.js";
import { exportedNames } from "./exported-names.js";

test("the guide names everything the library exports", async () => {
  const guide = await page("library.md");
  const named = new Set(Array.from(guide.matchAll(/`([^`\n]+)`/g), ([, code = ""]) => code.split(/\W+/)).flat());
  const names = await exportedNames();
  expect(names).toEqual(expect.arrayContaining(Object.keys(library)));
  expect(names.filter((name) => !named.has(name))).toEqual([]);
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

async function page(name: string): Promise<string> {
  return await readFile(new URL(`../../docs/${name}`, import.meta.url), "utf8");
}
