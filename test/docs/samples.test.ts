import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { bundleModule } from "../support/bundle.js";
import { temporaryFolder } from "../support/temporary-folder.js";

/** The output of the programs of a page, in order. */
const printed: readonly (readonly [page: string, outputs: readonly string[]])[] = [
  ["README.md", ["2+2 = 4"]],
  ["docs/library.md", ["2+2 = 4\n", "6*7 = 42 (saved)\n", "", "", "", "CONVERSATION_NOT_FOUND\n", "1 /v1/responses\n"]],
  ["docs/mock-llm.md", [""]],
];

test.each(printed)("the programs of %s run as printed and exit", async (page, outputs) => {
  const text = await readFile(new URL(`../../${page}`, import.meta.url), "utf8");
  const programs = Array.from(text.matchAll(/```ts\n(.*?)```/gs), ([, program = ""]) => program);
  const home = await temporaryFolder();
  // Inside the package, so that their imports are found.
  const builds = fileURLToPath(new URL("../../build", import.meta.url));
  await mkdir(builds, { recursive: true });
  const sources = await mkdtemp(join(builds, "samples-"));
  onTestFinished(() => rm(sources, { recursive: true, force: true }));
  const env = { PATH: process.env["PATH"], HOME: home };
  for (const [index, program] of programs.entries()) {
    const source = join(sources, `${index}.ts`);
    await writeFile(source, program);
    await using module = await bundleModule(source);
    const run = promisify(execFile)(process.execPath, [module.file], { cwd: home, env });
    expect(await run).toEqual({ stdout: outputs[index], stderr: "" });
  }
  expect(programs).toHaveLength(outputs.length);
});
