import { readdirSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { expect, test } from "vitest";
import { startProcess } from "../../../src/tools/exec/start-process.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

test("a process aborted while its pipes are created is not started and leaves no open descriptor", async () => {
  const controller = new AbortController();
  const cwd = await temporaryFolder();
  const before = readdirSync("/proc/self/fd").length;
  const starting = startProcess({
    argv: ["touch", "made"],
    cwd,
    env: { PATH: process.env["PATH"] ?? "", TMPDIR: cwd },
    marker: "none",
    signal: controller.signal,
  });
  controller.abort();
  expect(await starting).toBeUndefined();
  expect(await readdir(cwd)).toEqual([]);
  await expect.poll(() => readdirSync("/proc/self/fd").length, { interval: 5 }).toBe(before);
});
