import { readdir } from "node:fs/promises";
import { expect, test } from "vitest";
import { startProcess } from "../../../src/tools/exec/start-process.js";
import { openFilesIn } from "../../support/open-files.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

test("a process aborted while its pipes are created is not started and leaves no open descriptor", async () => {
  const controller = new AbortController();
  const cwd = await temporaryFolder();
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
  await expect.poll(() => openFilesIn(cwd), { timeout: 20_000, interval: 5 }).toEqual([]);
});
