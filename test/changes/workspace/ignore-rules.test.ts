import { execFile } from "node:child_process";
import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bundleModule } from "../../support/bundle.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const run = promisify(execFile);
let bundles: Awaited<ReturnType<typeof bundleModule>>[];

beforeAll(async () => {
  bundles = await Promise.all(["walk", "snapshot"].map((name) => bundleModule(`src/changes/workspace/${name}.ts`)));
});

afterAll(() => Promise.all(bundles.map((bundle) => bundle[Symbol.asyncDispose]())));

/** Lists files in a child process with limited memory that can be killed while it blocks on a pipe. */
async function foundFiles(root: string): Promise<unknown> {
  const script = `
    const [root, user, ...files] = process.argv.slice(1);
    const [{ walk }, { readExcludes }] = await Promise.all(files.map((file) => import(file)));
    const limits = { maxFiles: 100, maxEntries: 100, maxFileBytes: 1e6, maxBytes: 1e6 };
    const excludes = readExcludes(root, { home: user, configs: [user + "/config"], ignore: user + "/ignore" });
    const found = walk({ root, outside: [], limits, secrets: [], excludes });
    console.log(JSON.stringify(found.map(({ path }) => path)));
  `;
  const limited = 'ulimit -v 8000000; exec "$0" "$@"';
  const files = bundles.map(({ file }) => file);
  const parts = [process.execPath, "--input-type=module", "-e", script, root, join(root, "node_modules"), ...files];
  const { stdout } = await run("sh", ["-c", limited, ...parts], { timeout: 20_000, killSignal: "SIGKILL" });
  return JSON.parse(stdout);
}

const places = [
  ".gitignore",
  "inner/.gitignore",
  ".git",
  ".git/commondir",
  ".git/config",
  ".git/info/exclude",
  // The user's own configuration and ignore file in these tests.
  "node_modules/config",
  "node_modules/ignore",
];
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
  "%s as %s neither blocks nor is read endlessly",
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

test("files ignored by a repository, by a folder or by .git/info/exclude are left out", async () => {
  const root = await temporaryFolder();
  for (const folder of [".git/info", "inner"]) await mkdir(join(root, folder), { recursive: true });
  const files = { ".gitignore": "x\n", "inner/.gitignore": "y\n", ".git/info/exclude": "z\n", "inner/a": "" };
  for (const [name, text] of Object.entries(files)) await writeFile(join(root, name), text);
  for (const name of ["x", "y", "z"]) await writeFile(join(root, "inner", name), "");
  expect(await foundFiles(root)).toEqual([".gitignore", "inner/.gitignore", "inner/a"]);
});

test("files in the user's global ignore file are left out, at the configured or the default path", async () => {
  const root = await temporaryFolder();
  const own = join(root, "node_modules");
  for (const folder of [".git/info", "node_modules"]) await mkdir(join(root, folder), { recursive: true });
  for (const name of ["x", "y", "z"]) await writeFile(join(root, name), "");
  await writeFile(join(own, "ignore"), "x\n");
  expect(await foundFiles(root)).toEqual(["y", "z"]);
  // Dotfiles are often symlinks.
  await writeFile(join(own, "dotfile"), "y\n");
  await symlink("dotfile", join(own, "link"));
  await writeFile(join(own, "config"), "[core]\nexcludesFile = ~/link\n");
  expect(await foundFiles(root)).toEqual(["x", "z"]);
  await writeFile(join(root, ".git/info/exclude"), "!y\nz\n");
  expect(await foundFiles(root)).toEqual(["x", "y"]);
  await writeFile(join(root, ".git/config"), "[core]\n  excludesfile = node_modules/ignore\n");
  expect(await foundFiles(root)).toEqual(["y"]);
});

test("in a folder that is ignored and then re-included, only files that are ignored themselves are left out", async () => {
  const root = await temporaryFolder();
  for (const folder of [".git/info", "out [1]/in"]) await mkdir(join(root, folder), { recursive: true });
  await writeFile(join(root, ".git/info/exclude"), "out*\n*.log\n");
  await writeFile(join(root, ".gitignore"), "!out*\n");
  for (const name of ["a", "a.log", "in/b", "in/b.log"]) await writeFile(join(root, "out [1]", name), "");
  expect(await foundFiles(root)).toEqual([".gitignore", "out [1]/a", "out [1]/in/b"]);
});
