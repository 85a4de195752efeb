import { readdir, stat } from "node:fs/promises";
import { join, relative } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Cli } from "../support/cli.js";

/** Sets the umask of this process and its threads until the test ends. */
function useMask(mask: string): void {
  const before = process.umask(Number.parseInt(mask, 8));
  onTestFinished(() => void process.umask(before));
}

async function modesIn(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = [folder, ...entries.map((entry) => join(entry.parentPath, entry.name))];
  const modes = await Promise.all(
    paths.map(async (path) => [relative(folder, path), ((await stat(path)).mode & 0o777).toString(8)] as const),
  );
  return Object.fromEntries(modes);
}

const homeFiles = ["codex-conversations.jsonl", "config.json", "heads.json", "index.sqlite", "retention.jsonl"];

test.each(["000", "022", "077", "777"])(
  "under umask %s every file is accessible to its owner and nobody else",
  async (umask) => {
    const cli = await Cli.open();
    useMask(umask);
    const run = async (...args: string[]) => (await cli.run(args, { env: { CODY_DEBUG: "1" } })).code;
    expect(await run("new", "--layout", "codex")).toBe(0);
    expect(await run("new", "--name", "work")).toBe(0);
    expect(await run("new")).toBe(0);
    expect(await run("chat", "--layout", "project", "--provider", "offline", "again")).toBe(0);
    expect(await run("config", "set", "history.maxSize", "10")).toBe(0);
    expect(await run("pin", "work")).toBe(0);
    expect(await run("list")).toBe(0);
    expect(await run("index")).toBe(0);
    expect(await run("clean", "--all")).toBe(0);
    expect(await run("list")).toBe(0);
    const modes = await modesIn(cli.home);
    const names = Object.keys(modes);
    for (const part of ["conversations", "active", "trash", ".names.jsonl", ".pins.jsonl", ...homeFiles]) {
      expect(names.filter((name) => name.endsWith(part))).not.toEqual([]);
    }
    const wrong = Object.entries(modes).filter(([, mode]) => mode !== "700" && mode !== "600");
    expect(wrong).toEqual([]);
    expect(await run("doctor")).toBe(0);
  },
);
