import { expect, test } from "vitest";
import { entryUrl } from "../../src/workers/entry-url.js";

test("a thread entry is found from the sources, from the installed package and from its chunks", () => {
  const entry = "file:///x/node_modules/cody/dist/workers/entries/cpu.cjs";
  for (const file of ["src/workers/entry-url.ts", "dist/index.js", "dist/chunks/a.js"]) {
    expect(entryUrl("cpu", `file:///x/node_modules/cody/${file}`).href).toBe(entry);
  }
});

test("a program that bundles cody gets an error that says what to do", () => {
  expect(() => entryUrl("cpu", "file:///srv/app.mjs")).toThrow(
    "Cannot find cody's worker files from file:///srv/app.mjs. If you bundle your program, mark cody as external",
  );
});
