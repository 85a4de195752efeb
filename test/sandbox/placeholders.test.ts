import { chmod, mkdir, readdir, readFile, rename, rm, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Placeholders } from "../../src/sandbox/placeholders.js";
import { temporaryFolder } from "../support/temporary-folder.js";

/** No process has this pid. */
const deadPid = 2 ** 22 + 1;

async function open() {
  const [workspace, folder] = [await temporaryFolder(), join(await temporaryFolder(), "sandbox")];
  const placeholders = new Placeholders(folder);
  const wanted = [{ path: join(workspace, ".cody") }, { path: join(workspace, "commondir"), text: ".\n" }];
  const content = async () => (await readdir(workspace)).toSorted();
  const records = () => readdir(folder);
  return { workspace, folder, placeholders, wanted, content, records };
}

/** Turns the claims of this process into those of a process that was killed. */
async function killOwner(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    await rename(join(folder, name), join(folder, name.replace(/\.\d+\.\d*\./, `.${deadPid}.7.`)));
  }
}

test("placeholders exist while a command runs, and are removed after it", async () => {
  const { workspace, placeholders, wanted, content, records } = await open();
  {
    await using _ = await placeholders.create(wanted);
    expect(await content()).toEqual([".cody", "commondir"]);
    expect(await readFile(join(workspace, "commondir"), "utf8")).toBe(".\n");
  }
  expect(await content()).toEqual([]);
  expect(await records()).toEqual([]);
});

test("the last of several commands removes them, in whatever order they end", async () => {
  const { folder, wanted, content, records } = await open();
  const create = () => new Placeholders(folder).create(wanted);
  for (const order of [
    [0, 1, 2],
    [2, 1, 0],
    [1, 2, 0],
  ]) {
    const commands = [await create(), await create(), await create()];
    for (const [ended, index] of order.entries()) {
      await commands[index]?.[Symbol.asyncDispose]();
      expect(await content()).toEqual(ended < 2 ? [".cody", "commondir"] : []);
    }
    expect(await records()).toEqual([]);
  }
});

test("many commands at once leave nothing, and each has its placeholders while it runs", async () => {
  const { folder, wanted, content, records } = await open();
  const play = async () => {
    for (let round = 0; round < 20; round += 1) {
      await using _ = await new Placeholders(folder).create(wanted);
      expect(await content()).toEqual([".cody", "commondir"]);
    }
  };
  await Promise.all(Array.from({ length: 5 }, play));
  expect(await content()).toEqual([]);
  expect(await records()).toEqual([]);
});

test("what the user had before, or creates meanwhile, is kept", async () => {
  const { workspace, placeholders, wanted, content } = await open();
  await mkdir(join(workspace, ".cody"));
  {
    await using _ = await placeholders.create(wanted);
    await writeFile(join(workspace, "commondir"), "elsewhere\n");
  }
  expect(await content()).toEqual([".cody", "commondir"]);
  {
    await using _ = await placeholders.create([{ path: join(workspace, "AGENTS.md") }]);
    await chmod(join(workspace, "AGENTS.md"), 0o755);
    await writeFile(join(workspace, "AGENTS.md", "note"), "");
  }
  expect(await content()).toEqual([".cody", "AGENTS.md", "commondir"]);
});

test.each(["sweep", "next command"])("those of a killed process are removed by the %s", async (by) => {
  const { folder, placeholders, wanted, content, records } = await open();
  await placeholders.create(wanted);
  await killOwner(folder);
  if (by === "sweep") await placeholders.sweep();
  else await (await new Placeholders(folder).create(wanted))[Symbol.asyncDispose]();
  expect(await content()).toEqual([]);
  expect(await records()).toEqual([]);
});

test("those of a process that was killed while it created them are removed", async () => {
  const { workspace, folder, placeholders, wanted, content, records } = await open();
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, `${"0".repeat(16)}.${deadPid}.7.a-b.claim`), JSON.stringify(wanted));
  await mkdir(join(workspace, ".cody"));
  await placeholders.sweep();
  expect(await content()).toEqual([]);
  expect(await records()).toEqual([]);
});

test("a folder that the user created in the place of a placeholder is kept", async () => {
  const { workspace, folder, placeholders, wanted, content } = await open();
  await placeholders.create(wanted.slice(0, 1));
  await killOwner(folder);
  // While the placeholder exists, nothing else can have its inode.
  await mkdir(join(workspace, "mine"));
  await rmdir(join(workspace, ".cody"));
  await rename(join(workspace, "mine"), join(workspace, ".cody"));
  await placeholders.sweep();
  expect(await content()).toEqual([".cody"]);
});

test("claims of running processes stay", async () => {
  const { folder, placeholders, wanted, content } = await open();
  await using _ = await placeholders.create(wanted);
  await new Placeholders(folder).sweep();
  expect(await content()).toEqual([".cody", "commondir"]);
});

test("commands in two subfolders of a repository share what is in its git directory", async () => {
  const { workspace, folder, content, records } = await open();
  const inSub = async (sub: string) => {
    await mkdir(join(workspace, sub));
    const wanted = [{ path: join(workspace, "commondir"), text: ".\n" }, { path: join(workspace, sub, ".cody") }];
    return await new Placeholders(folder).create(wanted);
  };
  const [one, two] = [await inSub("one"), await inSub("two")];
  await one[Symbol.asyncDispose]();
  expect(await content()).toEqual(["commondir", "one", "two"]);
  expect([await readdir(join(workspace, "one")), await readdir(join(workspace, "two"))]).toEqual([[], [".cody"]]);
  await two[Symbol.asyncDispose]();
  expect(await content()).toEqual(["one", "two"]);
  expect(await records()).toEqual([]);
});

test("commands that end while a long one runs leave no records", async () => {
  const { folder, wanted, content, records } = await open();
  {
    await using _ = await new Placeholders(folder).create(wanted);
    for (let command = 0; command < 10; command += 1) {
      await (await new Placeholders(folder).create(wanted))[Symbol.asyncDispose]();
    }
    expect(await records()).toHaveLength(1);
  }
  expect(await content()).toEqual([]);
  expect(await records()).toEqual([]);
});

test("if one cannot be created, those before it are removed", async () => {
  const { workspace, placeholders, wanted, content, records } = await open();
  await writeFile(join(workspace, "file"), "");
  const impossible = [...wanted, { path: join(workspace, "x".repeat(300)) }, { path: join(workspace, "file", "x") }];
  await expect(placeholders.create(impossible)).rejects.toThrow(/ENAMETOOLONG|ENOTDIR/);
  expect(await content()).toEqual(["file"]);
  expect(await records()).toEqual([]);
});

test("a command that begins while those of a killed one are swept has its own", async () => {
  const { folder, placeholders, wanted, content, records } = await open();
  for (let round = 0; round < 20; round += 1) {
    await placeholders.create(wanted);
    await killOwner(folder);
    const sweeps = Array.from({ length: 3 }, () => new Placeholders(folder).sweep());
    await using _ = await new Placeholders(folder).create(wanted);
    await Promise.all(sweeps);
    expect(await content()).toEqual([".cody", "commondir"]);
  }
  expect(await content()).toEqual([]);
  expect(await records()).toEqual([]);
});

test("in a folder of records that cannot be read, a command fails instead of ignoring others", async () => {
  const { folder, placeholders, wanted } = await open();
  await using _ = await placeholders.create(wanted);
  const [name = ""] = await readdir(folder);
  await rm(join(folder, name));
  await mkdir(join(folder, name));
  await expect(new Placeholders(folder).create(wanted)).rejects.toThrow("EISDIR");
});
