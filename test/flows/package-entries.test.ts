import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { library } from "../../scripts/build.mjs";
import { bundle } from "../../scripts/bundle.mjs";
import * as main from "../../src/index.js";
import * as compaction from "../../src/public/compaction.js";
import * as rollouts from "../../src/public/rollouts.js";
import * as testing from "../../src/public/testing.js";
import { exportedNames } from "../docs/exported-names.js";

const root = fileURLToPath(new URL("../..", import.meta.url));

test("the package exports every library file that is built, with its declarations", async () => {
  const { exports } = JSON.parse(await readFile(new URL("../../package.json", import.meta.url), "utf8")) as {
    exports: Record<string, unknown>;
  };
  const built = Object.entries(library).map(([name, source]) => [
    name === "index" ? "." : `./${name}`,
    { types: source.replace(/^src\/(.*)\.ts$/, "./dist/types/$1.d.ts"), default: `./dist/${name}.js` },
  ]);
  expect(exports).toEqual({ ...Object.fromEntries(built), "./package.json": "./package.json" });
});

test("a program imports each path of the package, and they share their classes", async () => {
  const { stdout } = await runProgram(`
    const [main, compaction, rollouts, testing] =
      await Promise.all(["cody", "cody/compaction", "cody/rollouts", "cody/testing"].map((path) => import(path)));
    console.log(JSON.stringify([main, compaction, rollouts, testing].map((entry) => Object.keys(entry).sort())));
    console.log(compaction.truncateMiddle === main.truncateMiddle, rollouts.RolloutRecorder === main.RolloutRecorder);`);
  const [names = "", shared] = stdout.split("\n");
  expect(JSON.parse(names)).toEqual(
    [main, compaction, rollouts, testing].map((entry) => Object.keys(entry).toSorted()),
  );
  expect(shared).toBe("true true");
});

test("the main file contains nothing of the mock server but the schemas of its scripts", async () => {
  const chunks = new Map((await bundle({ format: "esm", input: library })).map((chunk) => [chunk.fileName, chunk]));
  const loadedWith = (entry: string): string[] => {
    const files = new Set([entry]);
    for (const file of files) for (const name of chunks.get(file)?.imports ?? []) files.add(name);
    const modules = [...files].flatMap((file) => chunks.get(file)?.moduleIds ?? []);
    return modules.map((id) => relative(root, id)).filter((id) => id.startsWith("src/mock-llm/"));
  };
  expect(loadedWith("index.js")).toEqual(["src/mock-llm/script.ts"]);
  expect(loadedWith("testing.js")).toContain("src/mock-llm/server.ts");
});

test("the names that moved to a subpath are still exported by the main file", async () => {
  const moved = await exportedNames("public/deprecated");
  const subpaths = ["compaction", "rollouts", "testing"].map((name) => exportedNames(`public/${name}`));
  expect((await Promise.all(subpaths)).flat()).toEqual(expect.arrayContaining(moved));
  expect(await exportedNames("index")).toEqual(expect.arrayContaining(moved));
  const { stdout } = await runProgram(`
    import { startMockLlm } from "cody";
    const mock = await startMockLlm();
    console.log((await fetch(mock.url + "/v1/models")).status);
    await mock.close();`);
  expect(stdout).toBe("404\n");
});

/** Runs a program that imports the built package by its name. */
async function runProgram(source: string) {
  return await promisify(execFile)(process.execPath, ["--input-type=module", "-e", source], { cwd: root });
}
