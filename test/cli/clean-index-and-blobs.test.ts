import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Cli } from "../support/cli.js";

async function has(path: string, text: string): Promise<boolean> {
  return (await readFile(path, "latin1").catch(() => "")).includes(text);
}

test("clean removes a conversation from index, list and blobs, and undelete restores all of it", async () => {
  const cli = await Cli.open();
  const id = (await cli.run(["new"])).stdout.trim();
  await cli.run(["chat", "remember the walrus"]);
  const blobs = join(cli.conversations, `${id}.jsonl.blobs`);
  await mkdir(blobs, { mode: 0o700 });
  await writeFile(join(blobs, "a".repeat(64)), "the whole of it", { mode: 0o600 });
  await cli.run(["list"]);
  await cli.run(["index"]);
  expect((await cli.run(["search", "walrus"])).stdout).toContain(id);
  const index = join(cli.home, "index.sqlite");
  expect(await has(index, "walrus")).toBe(true);

  expect(await cli.run(["clean", "--all"])).toMatchObject({ code: 0 });
  expect(await has(index, "walrus")).toBe(false);
  expect(await has(join(cli.home, "heads.json"), "walrus")).toBe(false);
  expect(await readdir(cli.conversations)).not.toContain(`${id}.jsonl.blobs`);
  expect((await cli.run(["search", "walrus"])).stdout).not.toContain(id);
  expect((await cli.run(["list"])).stdout).toContain("No saved conversations.");

  expect(await cli.run(["undelete", id])).toMatchObject({ code: 0 });
  expect((await cli.run(["search", "walrus"])).stdout).toContain(id);
  expect((await cli.run(["list", "--json"])).stdout).toContain(id);
  expect(await readFile(join(blobs, "a".repeat(64)), "utf8")).toBe("the whole of it");
});
