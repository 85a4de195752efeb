import { spawn } from "node:child_process";
import { readdir, stat } from "node:fs/promises";
import { join, relative } from "node:path";
import { expect, test } from "vitest";
import { Cli, commandOf, finished } from "../support/cli.js";

/** Runs a command line with a umask of its own. */
async function run(cli: Cli, umask: string, args: readonly string[], input = ""): Promise<number | null> {
  const words = ["-c", `umask ${umask}; exec "$@"`, "sh", ...commandOf(args)];
  const child = spawn("sh", words, { cwd: cli.project, env: { ...cli.env, CODY_DEBUG: "1" }, stdio: "pipe" });
  child.stdin.end(input);
  return (await finished(child)).code;
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
  "under umask %s everything is for its owner alone, and for him",
  async (umask) => {
    const cli = await Cli.open();
    expect(await run(cli, umask, ["new", "--layout", "codex"])).toBe(0);
    expect(await run(cli, umask, ["new", "--name", "work"])).toBe(0);
    expect(await run(cli, umask, ["new"])).toBe(0);
    expect(await run(cli, umask, ["chat", "--layout", "project", "--provider", "offline", "again"])).toBe(0);
    expect(await run(cli, umask, ["config", "set", "history.maxSize", "10"])).toBe(0);
    expect(await run(cli, umask, ["pin", "work"])).toBe(0);
    expect(await run(cli, umask, ["list"])).toBe(0);
    expect(await run(cli, umask, ["index"])).toBe(0);
    expect(await run(cli, umask, ["clean", "--all"])).toBe(0);
    expect(await run(cli, umask, ["list"])).toBe(0);
    const modes = await modesIn(cli.home);
    const names = Object.keys(modes);
    for (const part of ["conversations", "active", "trash", ".names.jsonl", ".pins.jsonl", ...homeFiles]) {
      expect(names.filter((name) => name.endsWith(part))).not.toEqual([]);
    }
    const wrong = Object.entries(modes).filter(([, mode]) => mode !== "700" && mode !== "600");
    expect(wrong).toEqual([]);
    expect(await run(cli, umask, ["doctor"])).toBe(0);
  },
);
