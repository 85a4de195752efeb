import { execFile } from "node:child_process";
import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bundleModule } from "../../support/bundle.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const run = promisify(execFile);
let bundle: Awaited<ReturnType<typeof bundleModule>>;

beforeAll(async () => {
  bundle = await bundleModule("src/changes/workspace/walk.ts");
});

afterAll(() => bundle[Symbol.asyncDispose]());

/** The files found, by a process that can be ended while it waits for a pipe, and that has not all the memory. */
async function foundFiles(root: string): Promise<unknown> {
  const script = `
    const { walk } = await import(process.argv[1]);
    const limits = { maxFiles: 100, maxEntries: 100, maxFileBytes: 1e6, maxBytes: 1e6 };
    const files = walk({ root: process.argv[2], outside: [], limits, secrets: [] });
    console.log(JSON.stringify(files.map(({ path }) => path)));
  `;
  const limited = 'ulimit -v 8000000; exec "$0" "$@"';
  const parts = [process.execPath, "--input-type=module", "-e", script, bundle.file, root];
  const { stdout } = await run("sh", ["-c", limited, ...parts], { timeout: 20_000, killSignal: "SIGKILL" });
  return JSON.parse(stdout);
}

const places = [".gitignore", "inner/.gitignore", ".git", ".git/commondir", ".git/info/exclude"];
const makers: Readonly<Record<string, (path: string) => Promise<unknown>>> = {
  "a pipe": (path) => run("mkfifo", [path]),
  "a link to a device without end": (path) => symlink("/dev/zero", path),
  "a link to a pipe": async (path) => {
    const pipe = join(await temporaryFolder(), "pipe");
    await run("mkfifo", [pipe]);
    await symlink(pipe, path);
  },
};

test.each(places.flatMap((place) => Object.keys(makers).map((what) => [place, what] as const)))(
  "%s that is %s is neither waited for nor read without end",
  async (place, what) => {
    const root = await temporaryFolder();
    for (const folder of [".git/info", "inner"]) await mkdir(join(root, folder), { recursive: true });
    await writeFile(join(root, "a"), "1\n");
    await writeFile(join(root, "inner/b"), "1\n");
    const path = join(root, place);
    await rm(path, { recursive: true, force: true });
    await mkdir(dirname(path), { recursive: true });
    await makers[what]?.(path);
    expect(await foundFiles(root)).toEqual(expect.arrayContaining(["a", "inner/b"]));
  },
  30_000,
);

test("what the rules of a repository, of a folder and of the clone alone ignore is left out", async () => {
  const root = await temporaryFolder();
  for (const folder of [".git/info", "inner"]) await mkdir(join(root, folder), { recursive: true });
  const files = { ".gitignore": "x\n", "inner/.gitignore": "y\n", ".git/info/exclude": "z\n", "inner/a": "" };
  for (const [name, text] of Object.entries(files)) await writeFile(join(root, name), text);
  for (const name of ["x", "y", "z"]) await writeFile(join(root, "inner", name), "");
  expect(await foundFiles(root)).toEqual([".gitignore", "inner/.gitignore", "inner/a"]);
});
