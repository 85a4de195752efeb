import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { writeFile } from "../../src/tools/write-file.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { call, toolContext } from "./tool-context.js";

const writes = 300;

/** A script that replaces a folder with a symbolic link and back, as fast as it can. */
const swapper = `
  const { renameSync, symlinkSync, unlinkSync } = require("node:fs");
  for (let round = 0; ; round += 1) {
    renameSync("swapped", "kept");
    insist(() => symlinkSync(process.argv[1], "swapped"));
    if (round === 0) console.log("ready");
    unlinkSync("swapped");
    insist(() => renameSync("kept", "swapped"));
    // Give some writes the time to succeed.
    if (round % 2 === 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);
    // A write may have created the folder again while it was renamed.
    function insist(act) {
      try { act(); } catch { renameSync("swapped", "made-" + round); insist(act); }
    }
  }
`;

test("a write never leaves the working folder while a folder is being swapped for a symbolic link", async () => {
  const [context, outside] = [await toolContext(), await temporaryFolder()];
  await mkdir(join(context.cwd, "swapped", "inner"), { recursive: true });
  await mkdir(join(outside, "inner"));
  const child = spawn(process.execPath, ["-e", swapper, outside], {
    cwd: context.cwd,
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const exited = once(child, "exit");
  await once(child.stdout, "data");
  const outcomes = { written: 0, refused: 0 };
  for (let round = 0; round < writes || outcomes.written === 0; round += 1) {
    const { success } = await call(writeFile, { path: `swapped/inner/${round}`, content: "text" }, context);
    outcomes[success ? "written" : "refused"] += 1;
  }
  child.kill("SIGKILL");
  expect((await exited)[1]).toBe("SIGKILL");
  expect(await readdir(outside, { recursive: true })).toEqual(["inner"]);
  const names = await readdir(context.cwd, { recursive: true });
  expect(names.filter((name) => name.endsWith(".tmp"))).toEqual([]);
});
