import { execFile } from "node:child_process";
import { chmod, cp, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import * as nodeModule from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeEach, expect, test } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.js";

const packageFolder = fileURLToPath(new URL("../..", import.meta.url));
/** Node 20 has no compile cache of its own. */
const isOurs = !("enableCompileCache" in nodeModule);
const help = ["chat", "--help"];

let home: string;
let caches: string;

beforeEach(async () => {
  home = await temporaryFolder();
  caches = join(home, ".cache");
});

/** Runs a command that must succeed and leave nothing in the folder for temporary files; returns its output. */
async function run(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  root = packageFolder,
): Promise<string> {
  const temporary = await temporaryFolder();
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [join(root, "dist/cli/main.cjs"), ...args], {
    cwd: home,
    env: { PATH: process.env["PATH"], HOME: home, CODY_HOME: join(home, "cody"), TMPDIR: temporary, ...env },
  });
  expect(stderr).toBe("");
  expect(await readdir(temporary)).toEqual([]);
  return stdout;
}

async function list(env: Readonly<Record<string, string>>): Promise<void> {
  await run(["list"], env);
}

/** The cached files, by path. */
async function cached(): Promise<Map<string, Buffer>> {
  const entries = await readdir(join(caches, "cody"), { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return new Map(await Promise.all(paths.map(async (path) => [path, await readFile(path)] as const)));
}

test("compiled code is cached in a folder of the user that nobody else can read", async () => {
  await list({ NODE_DISABLE_COMPILE_CACHE: "1" });
  await list({ NODE_COMPILE_CACHE: await temporaryFolder() });
  expect(await readdir(home)).not.toContain(".cache");
  await list({});
  await list({});
  expect(await readdir(caches)).toEqual(["cody"]);
  for (const path of [caches, join(caches, "cody")]) expect((await stat(path)).mode & 0o777).toBe(0o700);
  const chosen = await temporaryFolder();
  await list({ XDG_CACHE_HOME: chosen });
  expect(await readdir(chosen)).toEqual(["cody"]);
});

test("nothing is cached when others can write to a folder on the way, or it is a link or no folder", async () => {
  await mkdir(caches);
  await chmod(caches, 0o777);
  await list({});
  expect(await readdir(caches)).toEqual([]);
  await chmod(caches, 0o700);
  const ours = join(caches, "cody");
  await mkdir(ours);
  await chmod(ours, 0o770);
  await list({});
  expect(await readdir(ours)).toEqual([]);
  await rm(ours, { recursive: true });
  const elsewhere = await temporaryFolder();
  await symlink(elsewhere, ours);
  await list({});
  expect(await readdir(elsewhere)).toEqual([]);
  await rm(ours);
  await writeFile(ours, "");
  await list({});
  await chmod(home, 0o777);
  await list({ XDG_CACHE_HOME: join(home, "missing") });
  expect(await readdir(home)).not.toContain("missing");
  await list({ XDG_CACHE_HOME: "/dev/null" });
  await list({ XDG_CACHE_HOME: "." });
});

test("damaged files are ignored and replaced", async () => {
  const output = await run(help);
  const intact = await cached();
  expect(intact.size).toBeGreaterThan(0);
  const damages: readonly ((contents: Buffer) => Buffer)[] = [
    () => Buffer.alloc(0),
    (contents) => contents.subarray(0, contents.length / 2),
    (contents) => Buffer.alloc(contents.length),
    (contents) => Buffer.from(contents.map((byte, index) => (index < 64 || index % 97 > 0 ? byte : byte ^ 0xff))),
  ];
  for (const damage of damages) {
    for (const [path, contents] of intact) await writeFile(path, damage(contents));
    expect(await run(help)).toBe(output);
    expect(await run(help)).toBe(output);
    const now = await cached();
    expect([...now.keys()]).toEqual([...intact.keys()]);
    for (const [path, contents] of intact) expect(now.get(path)).not.toEqual(damage(contents));
  }
});

test("code that has changed is not run from the cache, and files of chunks that are gone are removed", async () => {
  const root = await temporaryFolder();
  await cp(join(packageFolder, "dist"), join(root, "dist"), { recursive: true });
  await cp(join(packageFolder, "package.json"), join(root, "package.json"));
  await run(help, {}, root);
  const chunks = join(root, "dist/chunks");
  const [shown, replaced] = ["Send a message", "Mail a message"];
  let changes = 0;
  for (const name of await readdir(chunks)) {
    const source = await readFile(join(chunks, name), "utf8");
    if (!source.includes(shown)) continue;
    await writeFile(join(chunks, name), source.replaceAll(shown, replaced));
    changes += 1;
  }
  expect(changes).toBeGreaterThan(0);
  const folders = await readdir(join(caches, "cody"));
  const gone = folders.map((folder) => join(caches, "cody", folder, "gone-12345678.cjs"));
  for (const path of gone) await writeFile(path, "");
  expect(await run(help, {}, root)).toContain(replaced);
  expect(await run(help, {}, root)).toContain(replaced);
  const left = await Promise.all(gone.map(async (path) => (await stat(path).catch(() => undefined)) !== undefined));
  expect(left).toEqual(gone.map(() => !isOurs));
});

test("a cache that cannot be written does not stop a command", async () => {
  const output = await run(help);
  for (const path of (await cached()).keys()) {
    await rm(path);
    await mkdir(path);
  }
  expect(await run(help)).toBe(output);
  expect(await cached()).toEqual(new Map());
});

test("several processes can fill the cache at once", async () => {
  const outputs = await Promise.all(Array.from({ length: 4 }, () => run(help)));
  expect(new Set(outputs).size).toBe(1);
  const names = [...(await cached()).keys()];
  expect(names.filter((name) => name.endsWith(".tmp"))).toEqual([]);
  expect(await run(help)).toBe(outputs[0]);
});

test("code from the cache still loads modules and starts threads", async () => {
  await writeFile(join(home, "long.txt"), "x".repeat(12_000));
  const cody = async (...args: readonly string[]): Promise<string> => {
    const env = { PATH: process.env["PATH"], HOME: home, CODY_HOME: join(home, "cody") };
    const command = [join(packageFolder, "dist/cli/main.cjs"), ...args, "--provider", "offline"];
    const { stdout, stderr } = await promisify(execFile)(process.execPath, command, { cwd: home, env });
    return stdout + stderr;
  };
  for (const text of ["my name is Ada", "read long.txt", "read long.txt", "what is my name?"]) {
    await cody("chat", text, "--sandbox", "danger-full-access");
  }
  // The first compaction fills the cache, the second one runs from it.
  expect(await cody("compact")).not.toMatch(/failed|Warning/);
  await cody("chat", "read long.txt", "--sandbox", "danger-full-access");
  expect(await cody("compact")).not.toMatch(/failed|Warning/);
});
