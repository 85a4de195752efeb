import { execFile } from "node:child_process";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { bundleModule } from "./support/bundle.js";
import { temporaryFolder } from "./support/temporary-folder.js";

const examples = fileURLToPath(new URL("../examples", import.meta.url));

/** The expected output of each example. */
const expectedOutput: Readonly<Record<string, string>> = {
  "a-hundred-at-once": "1 * 1 = 1\n10 * 10 = 100\n100 * 100 = 10000\n100 answers\n",
  approvals: "echo hello: approved\nit printed hello\nrm -rf build: denied\n",
  "custom-provider": "IS ANYBODY THERE?\n",
  "custom-tool": "weather: sunny in Oslo\nIt is sunny in Oslo.\n",
  "one-conversation": "12 * (3 + 4) = 84\n",
  resume: "1 turn so far\nYou told me: your name is Alice.\n1 turn in the copy\n",
};

test("every file in examples has an expected output here", async () => {
  const files = await readdir(examples);
  expect(files.toSorted()).toEqual(
    Object.keys(expectedOutput)
      .map((name) => `${name}.ts`)
      .toSorted(),
  );
});

test.each(Object.entries(expectedOutput))(
  "the example %s prints its expected output and exits",
  async (name, output) => {
    await using module = await bundleModule(join(examples, `${name}.ts`));
    const home = await temporaryFolder();
    const run = promisify(execFile)(process.execPath, [module.file], {
      cwd: home,
      env: { PATH: process.env["PATH"], HOME: home, CODY_HOME: join(home, "cody") },
    });
    expect(await run).toEqual({ stdout: output, stderr: "" });
  },
);
