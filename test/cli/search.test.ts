import { cpSync, existsSync, lstatSync, mkdirSync, rmSync, utimesSync, writeFileSync, statSync } from "node:fs";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import Database from "libsql";
import { expect, test } from "vitest";
import { Cli } from "../support/cli.js";
import { FakeTerminal } from "../support/cli-terminal.js";
import { scripted } from "../support/scripted-provider.js";
import { assistant, call, metaLine, output, user } from "../rollouts/search/rollout-library.js";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Three conversations; the last is the newest and in another project. */
async function openWithConversations(): Promise<Cli> {
  const cli = await Cli.open();
  mkdirSync(cli.conversations, { recursive: true });
  const saved = {
    conv_a: [user("How long is the Docker timeout?"), call("shell", '{"command":["docker","info"]}'), output("60s")],
    conv_b: [user("Tell me about\nwhales"), assistant("Whales are large. A DOCKER whale is a logo.")],
    conv_c: [user("docker again")],
  };
  for (const [index, [id, lines]] of Object.entries(saved).entries()) {
    const path = join(cli.conversations, `${id}.jsonl`);
    const cwd = id === "conv_c" ? "/elsewhere" : cli.project;
    writeFileSync(path, [metaLine(id).replace("/project", cwd), ...lines].join(""));
    const time = Date.UTC(2026, 10, 10 + index) / 1000;
    utimesSync(path, time, time);
  }
  return cli;
}

async function ids(cli: Cli, ...args: readonly string[]): Promise<string[]> {
  const { stdout, stderr, code } = await cli.run(["search", "--json", ...args]);
  expect({ stderr, code }).toEqual({ stderr: "", code: 0 });
  return JSON.parse(stdout).map(({ id }: { id: string }) => id);
}

const index = (cli: Cli) => join(cli.home, "index.sqlite");

test("search finds conversations with all words, newest first, with an excerpt", async () => {
  const cli = await openWithConversations();
  expect((await cli.run(["search", "docker", "Timeout"])).stdout).toBe(`Found in:

  conv_a
    Title: How long is the Docker timeout?
    Folder: ${cli.project}
    Updated: 2026-11-10 00:00:00
    you: How long is the Docker timeout?
    shell: {"command":["docker","info"]}

Total: 1 conversation(s)
`);
  expect((await cli.run(["search", "zebra"])).stdout).toBe("No conversation contains all of these words.\n");
  expect((await cli.run(["search", "docker", "--limit", "1"])).stdout).toMatch(
    /^Found in:\n\n {2}conv_c\n[^]*\nTotal: 1 conversation\(s\); for more, raise --limit\n$/,
  );
  expect(lstatSync(index(cli)).mode & 0o777).toBe(0o600);
  const [found] = JSON.parse((await cli.run(["search", "--json", "whale", "LOGO"])).stdout);
  expect(found).toMatchObject({
    id: "conv_b",
    title: "Tell me about",
    excerpts: [
      { role: "user", kind: "message", text: "Tell me about whales", marks: [[14, 19]] },
      {
        role: "assistant",
        kind: "message",
        text: "Whales are large. A DOCKER whale is a logo.",
        marks: [
          [0, 5],
          [27, 32],
          [38, 42],
        ],
      },
    ],
  });
});

test("search can be limited to a project, a time or a directory", async () => {
  const cli = await openWithConversations();
  const codex = join(cli.project, ".codex", "sessions", "2026", "11", "16");
  mkdirSync(codex, { recursive: true });
  const uuid = "01a1e278-c9af-73b9-84ae-93f3a1bd5b54";
  writeFileSync(join(codex, `rollout-2026-11-16T00-00-00-${uuid}.jsonl`), metaLine(uuid) + user("docker in Codex"));
  expect(await ids(cli, "docker")).toEqual(["conv_c", "conv_b", "conv_a"]);
  expect(await ids(cli, "docker", "--project")).toEqual(["conv_b", "conv_a"]);
  expect(await ids(cli, "docker", "--since", "2026-11-11")).toEqual(["conv_c", "conv_b"]);
  expect(await ids(cli, "docker", "--codex")).toEqual([`conv_${uuid}`]);
  expect(await ids(cli, "docker", "--all")).toEqual([`conv_${uuid}`, "conv_c", "conv_b", "conv_a"]);
  // Searching one directory does not remove the others from the index.
  expect(await ids(cli, "docker")).toEqual(["conv_c", "conv_b", "conv_a"]);
  const { stdout } = await cli.run(["index", "status", "--json", "--all"]);
  expect(JSON.parse(stdout)).toMatchObject({ conversations: 4, stale: 0 });
});

test.each(['"', "'", "*", "(", "AND", "docker OR", "-docker", "text:docker", "NEAR(docker)", "%", "\\"])(
  "%s is searched literally",
  async (words) => {
    const cli = await openWithConversations();
    const { code, stderr } = await cli.run(["search", "--", words]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  },
);

test("a deleted, damaged, newer, locked or unusable index does not change the results", async () => {
  const cli = await openWithConversations();
  const expected = await ids(cli, "docker");
  rmSync(index(cli));
  expect(await ids(cli, "docker")).toEqual(expected);
  writeFileSync(index(cli), "garbage ".repeat(1_000));
  expect(await ids(cli, "docker")).toEqual(expected);
  const holder = new Database(index(cli));
  holder.exec("BEGIN EXCLUSIVE");
  writeFileSync(join(cli.conversations, "conv_d.jsonl"), metaLine("conv_d") + user("docker, the last one"));
  expect(await ids(cli, "docker")).toEqual(["conv_d", ...expected]);
  expect(await cli.run(["index"])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("another process is using it"),
  });
  holder.exec("ROLLBACK");
  holder.exec("PRAGMA user_version = 99");
  holder.close();
  const newer = await cli.run(["search", "docker", "--json"]);
  expect(newer.stderr).toBe(
    "Cannot use the search index, reading the files instead: the index is of a newer version, 99\n",
  );
  expect(JSON.parse(newer.stdout)).toHaveLength(4);
  rmSync(index(cli));
  mkdirSync(index(cli));
  const impossible = await cli.run(["search", "docker", "--json"]);
  expect(impossible.stderr).toContain("Cannot use the search index, reading the files instead: ");
  expect(JSON.parse(impossible.stdout)).toHaveLength(4);
});

test("without libsql search reads the files, and cody index says what is missing", async () => {
  const cli = await openWithConversations();
  const installed = join(cli.project, "installed");
  for (const name of ["package.json", "dist/cli", "dist/chunks"]) {
    cpSync(join(root, name), join(installed, name), { recursive: true });
  }
  const run = (...args: string[]) =>
    promisify(execFile)(process.execPath, [join(installed, "dist/cli/main.cjs"), ...args], { env: cli.env });
  const { stdout, stderr } = await run("search", "--json", "docker");
  expect(stderr).toBe("");
  const without = JSON.parse(stdout);
  expect(existsSync(index(cli))).toBe(false);
  expect(without).toEqual(JSON.parse((await cli.run(["search", "--json", "docker"])).stdout));
  expect((await run("stats", "--json")).stdout).toBe((await cli.run(["stats", "--json"])).stdout);
  await expect(run("index")).rejects.toMatchObject({
    code: 1,
    stderr:
      "✗ No search index: libsql is not installed\n  Searches read the files instead. To use an index: npm install libsql\n",
  });
});

test.each([[], ["rebuild"], ["status"]])("index %s without saved conversations has nothing to do", async (...args) => {
  const cli = await Cli.open();
  const nothingToIndex = { code: 0, stderr: "", stdout: "Nothing to index: no saved conversations\n" };
  expect(await cli.run(["index", ...args])).toMatchObject(nothingToIndex);
  expect(JSON.parse((await cli.run(["index", ...args, "--json"])).stdout)).toMatchObject({
    conversations: 0,
    stale: 0,
  });
  expect(existsSync(cli.home)).toBe(false);
});

test("the index is created in a home that does not exist yet, for conversations stored elsewhere", async () => {
  const cli = await openWithConversations();
  const home = join(cli.project, "fresh");
  const { code, stdout } = await cli.run(["index", "--home", home, "--conversation-dir", cli.conversations]);
  expect([code, stdout]).toEqual([0, expect.stringContaining("3 conversation(s)")]);
  expect(statSync(home).mode & 0o777).toBe(0o700);
});

test("cody index builds the index, shows its state and rebuilds it", async () => {
  const cli = await openWithConversations();
  const status = async (...args: string[]) => JSON.parse((await cli.run(["index", "--json", ...args])).stdout);
  expect((await cli.run(["index", "status"])).stdout).toBe(
    "No search index; searches read the files. To build it: cody index\n",
  );
  expect(await status()).toMatchObject({ path: index(cli), conversations: 3, messages: 6, stale: 0 });
  writeFileSync(join(cli.conversations, "conv_d.jsonl"), metaLine("conv_d"));
  expect(await status("status")).toMatchObject({ conversations: 3, stale: 1 });
  expect(await status("rebuild")).toMatchObject({ conversations: 4, stale: 0 });
  expect((await cli.run(["index"])).stdout).toMatch(/: 4 conversation\(s\), 6 message\(s\), \d+ kB; up to date\n$/);
  expect(await cli.run(["index", "frob"])).toMatchObject({ code: 2 });
});

test.each([
  [["search"], "Missing argument: words"],
  [["search", " "], "Missing search words"],
  [["search", "a", "--since", "soon"], "--since: expected an age or a date like 7d, 12h or 2026-11-01, not 'soon'"],
  [["search", "a", "--limit", "0"], "--limit"],
])("%s is rejected", async (args, complaint) => {
  const cli = await Cli.open();
  expect(await cli.run(args)).toMatchObject({ code: 2, stderr: expect.stringContaining(complaint) });
  expect(existsSync(cli.home)).toBe(false);
});

test("on a terminal matches are highlighted and control characters are escaped", async () => {
  const cli = await openWithConversations();
  const hostile = user("docker \u001b]0;title\u0007 \u001b[2J");
  writeFileSync(join(cli.conversations, "conv_h.jsonl"), metaLine("conv_h") + hostile);
  for (const [env, marked] of [
    [{}, "\u001b[1mdocker\u001b[22m"],
    [{ NO_COLOR: "1" }, "docker"],
  ] as const) {
    const terminal = await FakeTerminal.open(scripted([]), { home: cli.home, env, answering: [] });
    expect(await terminal.run("search", "docker", "--limit", "1")).toBe(0);
    expect(terminal.screen).toContain(`    you: ${marked} \u241b]0;title\u2407 \u241b[2J\n`);
  }
});
