import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { variableOf } from "../../src/config/settings/config-names.js";
import { mistypedVariables } from "../../src/config/settings/environment-config.js";
import { configKeys } from "../../src/config/settings/setting-keys.js";

test.each([
  ["CODY_MODLE", "CODY_MODEL"],
  ["CODY_model", "CODY_MODEL"],
  ["CODY_MODEL_", "CODY_MODEL"],
  ["CODY_HOM", "CODY_HOME"],
  ["CODY_BASEURL", "CODY_BASE_URL"],
  ["CODY_APPROVALPOLICY", "CODY_APPROVAL_POLICY"],
  ["CODY_COMPACTION_KEEPTURN", "CODY_COMPACTION_KEEP_TURNS"],
  ["CODY_KEEP_TURNS", "CODY_COMPACTION_KEEP_TURNS"],
])("%s is reported as a misspelling of %s", async (name, meant) => {
  expect(await mistypedVariables({ [name]: "x" })).toEqual([{ name, suggestion: meant }]);
});

test.each(["CODY_COLOUR", "CODY_NAME", "CODY_", "CODY_EMBEDDINGS_HOST", "CODY_ENABLED"])(
  "%s is not reported because it may belong to another program",
  async (name) => {
    expect(await mistypedVariables({ [name]: "x" })).toEqual([]);
  },
);

test("an empty variable and a known variable are not reported", async () => {
  const known = Object.fromEntries(
    [...configKeys.map(variableOf), "CODY_HOME", "CODY_DEBUG"].map((name) => [name, "x"]),
  );
  expect(await mistypedVariables({ ...known, CODY_MODLE: "", MODLE: "x" })).toEqual([]);
});

test("no variable that the program, its tests or its benchmarks read is reported", async () => {
  const root = fileURLToPath(new URL("../..", import.meta.url));
  const folders = ["src", "test", "bench", "scripts", "examples"].map((name) => join(root, name));
  const files = (await Promise.all(folders.map((folder) => readdir(folder, { recursive: true, withFileTypes: true }))))
    .flat()
    .filter((entry) => entry.isFile() && /\.[cm]?[jt]s$/.test(entry.name));
  const texts = await Promise.all(files.map((file) => readFile(join(file.parentPath, file.name), "utf8")));
  const names = texts.flatMap((text) => [...text.matchAll(/env\[["'](CODY_\w+)["']\]/g)].map(([, name]) => name));
  expect(names).toContain("CODY_HOME");
  expect(await mistypedVariables(Object.fromEntries(names.map((name) => [name, "x"])))).toEqual([]);
});
