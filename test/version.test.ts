import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { version } from "../src/version.js";

test("the version in the sources is that of the package", async () => {
  const text = await readFile(new URL("../package.json", import.meta.url), "utf8");
  expect(JSON.parse(text)).toMatchObject({ version });
});
