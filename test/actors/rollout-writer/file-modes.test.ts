import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Child } from "../../support/json-lines-child.js";
import { bundleModule } from "../../support/bundle.js";

let program: Awaited<ReturnType<typeof bundleModule>>;
beforeAll(async () => {
  program = await bundleModule("test/actors/rollout-writer/umask-child.ts");
});
afterAll(() => program[Symbol.asyncDispose]());

test.each(["0000", "0022", "0777"])("under umask %s all files and folders are private to their user", async (umask) => {
  const directory = mkdtempSync(join(tmpdir(), "cody-modes-"));
  const child = new Child(program.file, [directory, umask]);
  expect(await child.receive()).toEqual({
    "run/cody": "700",
    one: "700",
    "one/two": "700",
    "one/two/a.jsonl": "600",
    "one/two/a.jsonl.lock": "600",
    "one/two/a.jsonl.torn-1": "600",
  });
  expect(await child.exited).toBe(0);
  rmSync(directory, { recursive: true });
});
