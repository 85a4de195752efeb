import { expect, test } from "vitest";
import { builtFile } from "../../src/base/fs/built-file.js";

test("a built file is found from the sources, from the installed package and from its chunks", () => {
  const entry = "file:///x/node_modules/cody/dist/workers/entries/cpu.cjs";
  for (const file of ["src/base/fs/built-file.ts", "dist/index.js", "dist/chunks/a.js"]) {
    expect(builtFile("workers/entries/cpu.cjs", `file:///x/node_modules/cody/${file}`).href).toBe(entry);
  }
});

test("a program that bundles cody gets an error that says what to do", () => {
  expect(() => builtFile("workers/entries/cpu.cjs", "file:///srv/app.mjs")).toThrow(
    "Cannot find cody's own files from file:///srv/app.mjs. If you bundle your program, mark cody as external",
  );
});
