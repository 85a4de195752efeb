import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { addRule, readPermissions, removeRule } from "../../../src/config/permissions/permissions-file.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const everywhere = { decision: "allow", project: undefined } as const;

test("rules are added once and removed, and comments in the file stay", async () => {
  const home = await temporaryFolder();
  const file = join(home, "permissions.json");
  await writeFile(file, '{\n  // what I use\n  "allow": [\n    "ls *", // list\n  ],\n}\n');
  expect(await addRule(home, everywhere, "npm test")).toBe(true);
  expect(await addRule(home, everywhere, "npm test")).toBe(false);
  expect(
    await addRule(home, { decision: "deny", project: "/projects/a" }, { rule: "git push *", match: ["git push"] }),
  ).toBe(true);
  expect(await addRule(home, { decision: "deny", project: "/projects/a" }, "rm *")).toBe(true);
  expect(await readPermissions(home)).toEqual({
    ok: true,
    rules: {
      allow: ["ls *", "npm test"],
      projects: { "/projects/a": { deny: [{ rule: "git push *", match: ["git push"] }, "rm *"] } },
    },
  });
  expect(await removeRule(home, everywhere, "ls *")).toBe(true);
  expect(await removeRule(home, everywhere, "ls *")).toBe(false);
  const text = await readFile(file, "utf8");
  expect(text).toContain("// what I use");
  expect(await readPermissions(home)).toMatchObject({ rules: { allow: ["npm test"] } });
});

test("a home without the file has no rules, and the first rule creates it for this user alone", async () => {
  const home = join(await temporaryFolder(), "home");
  expect(await readPermissions(home)).toEqual({ ok: true, rules: {} });
  await addRule(home, everywhere, "npm test");
  expect(await readPermissions(home)).toEqual({ ok: true, rules: { allow: ["npm test"] } });
});

test.each([
  ["{", /permissions\.json: invalid JSON/],
  ['{"allow": "ls"}', /permissions\.json/],
  ['{"allwo": ["ls"]}', /allwo/],
  ['{"allow": [], "allow": ["ls"]}', /duplicate key/],
  ['{"projects": {"relative": {}}}', /permissions\.json/],
])("%s cannot be used, and is not changed", async (text, problem) => {
  const home = await temporaryFolder();
  await writeFile(join(home, "permissions.json"), text);
  expect(await readPermissions(home)).toEqual({ ok: false, problem: expect.stringMatching(problem) });
  await expect(addRule(home, everywhere, "ls")).rejects.toThrow("Fix the file first");
  expect(await readFile(join(home, "permissions.json"), "utf8")).toBe(text);
});
