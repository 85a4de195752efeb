import { execFile, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmod, lstat, mkdir, mkdtemp, readdir, readFile, rename, symlink, utimes, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { Cli, type CliResult, saysOn } from "../support/cli.js";
import { idFromFileName } from "../../src/rollouts/layout.js";
import { newTemporaryName } from "../../src/tools/files/temporary-name.js";
import { pathWithSandbox } from "../support/fake-sandbox.js";
import { putCodexRollouts } from "../support/codex-home.js";

const hour = 60 * 60;

/** A command line with its own socket folder, apart from other sockets on this machine. */
class DoctorCli {
  readonly cli: Cli;
  readonly env: { readonly XDG_RUNTIME_DIR: string };

  private constructor(cli: Cli) {
    this.cli = cli;
    this.env = { XDG_RUNTIME_DIR: join(cli.project, "run") };
  }

  static async open(): Promise<DoctorCli> {
    const setup = new DoctorCli(await Cli.open());
    await mkdir(setup.env.XDG_RUNTIME_DIR, { mode: 0o700 });
    return setup;
  }

  /** The result without the last line, which is about the sandbox. */
  async doctor(...args: string[]): Promise<CliResult> {
    const result = await this.cli.run(["doctor", ...args], { env: this.env });
    return { ...result, stdout: result.stdout.replace(/^Sandbox does not work: .*\n$/m, "") };
  }

  /** A conversation with one message, and its file. */
  async startConversation(
    text = "my name is Alice",
    ...flags: string[]
  ): Promise<{ id: string; path: string; lines: string[] }> {
    // In a project without conversations.
    const cwd = await mkdtemp(join(this.cli.project, "project-"));
    const before = await this.#rollouts();
    await this.cli.run(["chat", text, ...flags], { env: this.env, cwd });
    const path = (await this.#rollouts()).find((each) => !before.includes(each)) ?? "";
    const id = idFromFileName(basename(path)) ?? "";
    return { id, path, lines: (await readFile(path, "utf8")).trimEnd().split("\n") };
  }

  async #rollouts(): Promise<string[]> {
    const names = await readdir(this.cli.conversations, { recursive: true }).catch(() => []);
    return names.filter((name) => name.endsWith(".jsonl")).map((name) => join(this.cli.conversations, name));
  }

  /** Every entry: names, modes, times and contents. */
  async snapshot(): Promise<object[]> {
    const names = await readdir(this.cli.project, { recursive: true });
    return await Promise.all(
      names.toSorted().map(async (name) => {
        const path = join(this.cli.project, name);
        const stats = await lstat(path);
        const { mode, mtimeMs, ino } = stats;
        return { name, mode, mtimeMs, ino, text: stats.isFile() ? await readFile(path, "utf8") : "" };
      }),
    );
  }
}

async function writeLines(path: string, lines: readonly string[]): Promise<void> {
  await writeFile(path, lines.map((line) => `${line}\n`).join(""));
}

async function makeOlder(path: string): Promise<void> {
  const then = Date.now() / 1000 - 2 * hour;
  await utimes(path, then, then);
}

/** The suggested commands, ready to copy. */
function suggestedCommands({ stdout }: CliResult): string[] {
  return stdout.split("\n").flatMap((line) => (line.startsWith("  Run: ") ? [line.slice("  Run: ".length)] : []));
}

const noProblems = { code: 0, signal: null, stderr: "" };

test("doctor finds no problems in an empty home and creates nothing", async () => {
  const setup = await DoctorCli.open();
  expect(await setup.doctor()).toEqual({ ...noProblems, stdout: "Checked 0 conversations: no problems found\n" });
  expect(await readdir(setup.cli.project)).toEqual(["run"]);
  expect(await readdir(setup.env.XDG_RUNTIME_DIR)).toEqual([]);
});

test("doctor finds no problems in intact conversations of every layout and changes nothing", async () => {
  const setup = await DoctorCli.open();
  await setup.startConversation();
  await setup.startConversation("hello", "--layout", "project");
  await setup.startConversation("hello", "--layout", "codex", "--conversation-dir", setup.cli.conversations);
  await setup.cli.run(["list"]);
  const before = await setup.snapshot();
  expect(await setup.doctor()).toEqual({ ...noProblems, stdout: "Checked 3 conversations: no problems found\n" });
  expect(await setup.snapshot()).toEqual(before);
});

test("doctor reports damage with its line, its reason and the command that fixes it", async () => {
  const setup = await DoctorCli.open();
  const { id, path, lines } = await setup.startConversation();
  const {
    id: other,
    path: otherPath,
    lines: otherLines,
  } = await setup.startConversation("hello", "--layout", "project");
  await writeLines(path, [...lines.slice(0, 2), "sk-secret", ...lines.slice(2), "[]", "null"]);
  await writeLines(otherPath, [...otherLines, "{"]);
  const before = await setup.snapshot();
  const { code, stdout, stderr } = await setup.doctor();
  expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
  expect(stdout.split("\n").toSorted()).toEqual(
    [
      `✗ ${id}: line 3: not valid JSON: Unexpected token 's', and 2 more damaged lines`,
      `  Preview a repair: cody repair ${id}`,
      `✗ ${other}: line ${otherLines.length + 1}: not valid JSON: Expected property name or '}' in JSON at position 1`,
      `  Preview a repair: cody repair ${other}`,
      "Checked 2 conversations: 2 problems",
      "",
    ].toSorted(),
  );
  expect(await setup.snapshot()).toEqual(before);
  for (const each of [id, other]) await setup.cli.run(["repair", each, "--write"], { env: setup.env });
  expect(await setup.doctor()).toEqual({ ...noProblems, stdout: "Checked 2 conversations: no problems found\n" });
});

test("doctor reports temporary files of a dead process: a leftover, and the only copy of a file", async () => {
  const setup = await DoctorCli.open();
  const gone = spawnSync(process.execPath, ["-e", ""]).pid;
  const [own, others] = [newTemporaryName(), newTemporaryName().replace(`-${process.pid}-`, `-${gone}-`)];
  const [litter, copy] = [`${others}.tmp`, `${others}.old`].map((name) => join(setup.cli.project, name));
  for (const path of [litter ?? "", copy ?? "", join(setup.cli.project, `${own}.tmp`)]) await writeFile(path, "text");
  expect(await setup.doctor()).toEqual({
    ...noProblems,
    stdout: `· ${copy}: the old content of a file whose change was interrupted; this is the only copy here
  If you do not need it: rm ${copy}
· ${litter}: a leftover temporary file
  Run: rm ${litter}
Checked 0 conversations: no problems found, 2 notes
`,
  });
});

test("a torn last line after a crash is not a problem, because resume fixes it", async () => {
  const setup = await DoctorCli.open();
  const { id, path, lines } = await setup.startConversation();
  await writeFile(path, `${lines.join("\n")}\n{"timestamp":"2026`);
  expect(await setup.doctor()).toEqual({
    ...noProblems,
    stdout: `· ${id}: the last line is incomplete (18 bytes); resuming moves it to a backup next to the file
Checked 1 conversation: no problems found, 1 note
`,
  });
  await setup.cli.run(["resume", id], { env: setup.env });
  expect((await setup.doctor()).stdout).toBe("Checked 1 conversation: no problems found\n");
  await writeFile(path, (await readFile(path, "utf8")).trimEnd());
  expect(await setup.doctor()).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`· ${id}: the last line has no newline; resuming adds it\n`),
  });
});

test("a torn last line of a conversation in use is not a problem", async () => {
  const setup = await DoctorCli.open();
  const { id, path } = await setup.startConversation();
  const other = setup.cli.start(["chat", "wait", "--resume", id], { middle: "hold", env: setup.env });
  await saysOn(other.stdout, "I am");
  await writeFile(path, '{"timestamp":"2026', { flag: "a" });
  expect(await setup.doctor()).toEqual({ ...noProblems, stdout: "Checked 1 conversation: no problems found\n" });
});

test("doctor reports locks and sockets of killed processes", async () => {
  const setup = await DoctorCli.open();
  const { id, path } = await setup.startConversation();
  const other = setup.cli.start(["chat", "wait", "--resume", id], { middle: "hold", env: setup.env });
  await saysOn(other.stdout, "I am");
  other.kill("SIGKILL");
  await once(other, "exit");
  const sockets = join(setup.env.XDG_RUNTIME_DIR, "cody");
  // One of its lock, and its control socket.
  for (const socket of await readdir(sockets)) await makeOlder(join(sockets, socket));
  expect(await setup.doctor()).toEqual({
    ...noProblems,
    stdout: `· ${path}.lock: stale lock of pid ${other.pid}, which has ended; the next resume replaces it
· ${sockets}: 2 sockets of ended processes; the next start of cody removes them
Checked 1 conversation: no problems found, 2 notes
`,
  });
  await setup.cli.run(["resume", id], { env: setup.env });
  expect((await setup.doctor()).stdout).toBe("Checked 1 conversation: no problems found\n");
});

test("doctor shows the owner of another machine's lock, and nothing about a damaged lock", async () => {
  const setup = await DoctorCli.open();
  const { path } = await setup.startConversation();
  const lock = `${path}.lock`;
  const owner = { token: "0".repeat(32), pid: 7, host: "elsewhere", bootId: "b", pidNamespace: "p", socket: "/tmp/s" };
  await writeFile(lock, JSON.stringify(owner), { mode: 0o600 });
  expect(await setup.doctor()).toMatchObject({
    code: 0,
    stdout: `· ${lock}: locked by pid 7 on another machine
  If no other cody is using it: rm ${lock}
Checked 1 conversation: no problems found, 1 note
`,
  });
  await writeFile(lock, "sk-secret");
  expect(await setup.doctor()).toMatchObject({
    code: 1,
    stdout: `✗ ${lock}: an unreadable lock; the conversation cannot be changed
  If no other cody is using it: rm ${lock}
Checked 1 conversation: 1 problem
`,
  });
});

test("doctor reports files others can read or change, and its commands fix them", async () => {
  const setup = await DoctorCli.open();
  const { cli } = setup;
  const { id, path } = await setup.startConversation();
  await cli.run(["set-provider", "offline"], { env: setup.env });
  await chmod(path, 0o644);
  await chmod(join(cli.home, "config.json"), 0o660);
  await chmod(cli.conversations, 0o755);
  await chmod(cli.home, 0o777);
  const result = await setup.doctor();
  expect(result).toMatchObject({
    code: 1,
    stdout: `✗ ${cli.home}: other users can read and change it (mode 777)
  Run: chmod 700 ${cli.home}
✗ ${join(cli.home, "config.json")}: other users can read and change it (mode 660)
  Run: chmod 600 ${join(cli.home, "config.json")}
✗ ${cli.conversations}: other users can read it (mode 755)
  Run: chmod 700 ${cli.conversations}
✗ ${id}: other users can read it (mode 644)
  Run: chmod 600 ${path}
Checked 1 conversation: 4 problems
`,
  });
  for (const command of suggestedCommands(result)) await promisify(execFile)("sh", ["-c", command]);
  expect(await setup.doctor()).toEqual({ ...noProblems, stdout: "Checked 1 conversation: no problems found\n" });
});

test("a custom directory may be readable by others but not writable", async () => {
  const setup = await DoctorCli.open();
  const directory = join(setup.cli.project, "my conversations");
  await mkdir(directory);
  await chmod(directory, 0o755);
  const flags = ["--conversation-dir", directory];
  await setup.cli.run(["chat", "hello", ...flags], { env: setup.env });
  expect((await setup.doctor(...flags)).stdout).toBe("Checked 1 conversation: no problems found\n");
  await chmod(directory, 0o757);
  expect(await setup.doctor(...flags)).toMatchObject({
    code: 1,
    stdout: expect.stringContaining(`  Run: chmod o-w '${directory}'\n`),
  });
});

test("doctor names anything that is not a regular file and does not open it", async () => {
  const setup = await DoctorCli.open();
  const { path } = await setup.startConversation();
  const at = (name: string): string => join(setup.cli.conversations, name);
  await symlink(path, at("conv_a-link.jsonl"));
  await mkdir(at("conv_b-folder.jsonl"));
  const server = createServer().listen(at("conv_c-socket.jsonl"));
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const { code, stdout } = await setup.doctor();
  expect(code).toBe(1);
  for (const id of ["conv_a-link", "conv_b-folder", "conv_c-socket"]) {
    expect(stdout).toContain(`✗ ${id}: not a regular file: ${at(`${id}.jsonl`)}\n`);
  }
  expect(stdout).toContain("Checked 4 conversations: 3 problems\n");
});

test("doctor reports leftover temporary files once they are old", async () => {
  const setup = await DoctorCli.open();
  const { cli } = setup;
  const { path } = await setup.startConversation();
  const uuid = "0f5a4f0e-0000-4000-8000-000000000000";
  const left = [
    join(cli.home, `config.json.${uuid}.tmp`),
    join(cli.home, `config.json.lock.7.${uuid}`),
    join(cli.home, "active", `0.json.${uuid}.tmp`),
    join(cli.conversations, ".heads.json.7.tmp"),
    `${path}.lock.0123456789abcdef.tmp`,
    `${path}.repair.tmp`,
  ];
  for (const each of left) await writeFile(each, "", { mode: 0o600 });
  await writeFile(join(cli.conversations, "notes.tmp"), "somebody's own");
  expect((await setup.doctor()).stdout).toBe("Checked 1 conversation: no problems found\n");
  for (const each of left) await makeOlder(each);
  const result = await setup.doctor();
  expect(result.code).toBe(0);
  expect(suggestedCommands(result).toSorted()).toEqual(left.map((each) => `rm ${each}`).toSorted());
  expect(result.stdout).toContain(`· ${left[0]}: a leftover temporary file\n`);
  expect(result.stdout).toContain("Checked 1 conversation: no problems found, 6 notes\n");
});

test.each([
  {
    text: '{"apiKey": "sk-secret"',
    reason: "config.json: invalid JSON in line 1, column 23: a } is missing. Fix it in ",
  },
  { text: '{"directory": "sk-secret"}', reason: "config.json: unknown key directory is ignored." },
])("doctor reports an unusable configuration and still checks the conversations: $text", async ({ text, reason }) => {
  const setup = await DoctorCli.open();
  await setup.startConversation();
  await writeFile(join(setup.cli.home, "config.json"), text, { mode: 0o600 });
  const { code, stdout, stderr } = await setup.doctor();
  expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
  expect(stdout).toContain(`✗ ${reason}`);
  expect(stdout).toContain("Checked 1 conversation: 1 problem\n");
  expect(stdout).not.toContain("sk-secret");
});

test("doctor reports a configuration that is not a file", async () => {
  const setup = await DoctorCli.open();
  await mkdir(join(setup.cli.home, "config.json"), { recursive: true });
  await chmod(setup.cli.home, 0o700);
  const { code, stdout } = await setup.doctor();
  expect(code).toBe(1);
  expect(stdout).toContain("✗ config.json: expected a file, but it is a folder: ");
});

test("doctor reports a file in place of the directory", async () => {
  const setup = await DoctorCli.open();
  await writeFile(join(setup.cli.project, "file"), "");
  for (const name of ["file", "file/below"]) {
    const directory = join(setup.cli.project, name);
    expect(await setup.doctor("--conversation-dir", directory)).toMatchObject({
      code: 1,
      stdout: `✗ ${directory}: not a directory\nChecked 0 conversations: 1 problem\n`,
    });
  }
});

test("doctor reports a directory that cannot be reached", async () => {
  const setup = await DoctorCli.open();
  const loop = join(setup.cli.project, "loop");
  await symlink(loop, loop);
  expect(await setup.doctor("--conversation-dir", loop)).toMatchObject({
    code: 1,
    stdout: expect.stringContaining(`✗ ${loop}: cannot read it: `),
  });
});

test("doctor shows only the first of many problems and counts all", async () => {
  const setup = await DoctorCli.open();
  await setup.startConversation();
  const names = Array.from({ length: 30 }, (_, index) => `conv_broken-${10 + index}`);
  for (const name of names) {
    await writeFile(join(setup.cli.conversations, `${name}.jsonl`), "x\n", { mode: 0o600 });
    await writeFile(join(setup.cli.conversations, `${name}.jsonl.lock`), "", { mode: 0o600 });
  }
  const { code, stdout } = await setup.doctor();
  expect(code).toBe(1);
  expect(stdout.split("\n").filter((line) => line.startsWith("✗"))).toHaveLength(20);
  expect(stdout).toContain("  and 40 more problems\nChecked 31 conversations: 60 problems\n");
  const { stdout: json } = await setup.doctor("--json");
  expect(JSON.parse(json)).toMatchObject({ conversations: 31, problems: 60, notes: 0, interrupted: false });
});

test("doctor --json prints everything in one line", async () => {
  const setup = await DoctorCli.open();
  const { id, path, lines } = await setup.startConversation();
  await writeLines(path, [...lines, "sk-secret"]);
  await writeFile(`${path}.repair.tmp`, "", { mode: 0o600 });
  await makeOlder(`${path}.repair.tmp`);
  const { code, stdout } = await setup.doctor("--json");
  expect(code).toBe(1);
  expect(stdout.trimEnd()).not.toContain("\n");
  expect(JSON.parse(stdout)).toEqual({
    conversations: 1,
    problems: 1,
    notes: 1,
    findings: [
      {
        kind: "damaged",
        needsPerson: true,
        id,
        path,
        line: lines.length + 1,
        reason: "not valid JSON: Unexpected token 's'",
        damagedLines: 1,
        help: `cody repair ${id}`,
      },
      { kind: "temporary", needsPerson: false, path: `${path}.repair.tmp`, help: `rm ${path}.repair.tmp` },
    ],
    sandbox: { works: false, reason: expect.stringContaining("no sandbox in this test") },
    interrupted: false,
  });
});

test("doctor says whether the sandbox works", async () => {
  const cli = await Cli.open();
  expect((await cli.run(["doctor"])).stdout).toMatch(/\nSandbox does not work: .*no sandbox in this test.*\n$/);
  const { stdout } = await cli.run(["doctor"], { env: { PATH: pathWithSandbox } });
  expect(stdout).toMatch(/\nSandbox works: bubblewrap .*bwrap\n$/);
});

test("doctor --codex checks Codex's conversations and ignores their modes", async () => {
  const setup = await DoctorCli.open();
  await setup.startConversation();
  const codex = join(setup.cli.project, ".codex");
  const [rollout] = await putCodexRollouts(codex, "v0.58.0/simple");
  const { id = "", path = "" } = rollout ?? {};
  await chmod(path, 0o644);
  expect(await setup.doctor("--codex")).toEqual({
    ...noProblems,
    stdout: "Checked 1 conversation: no problems found\n",
  });
  await writeFile(path, (await readFile(path, "utf8")).replace("\n", "\nbroken\n"));
  expect((await setup.doctor("--codex")).stdout).toBe(`✗ ${id}: line 2: not valid JSON: Unexpected token 'b'
  Preview a repair: cody repair ${id} --codex
Checked 1 conversation: 1 problem
`);
  expect((await setup.cli.run(["repair", id, "--codex"])).stdout).toContain("line 2: 6 bytes, not valid JSON");
});

test("a damaged file that cannot be found by its id is named by its path", async () => {
  const setup = await DoctorCli.open();
  const { id, path } = await setup.startConversation();
  const older = join(setup.cli.conversations, "2026", "11", "16", `rollout-2026-11-16T00-00-00-${id.slice(5)}.jsonl`);
  await mkdir(dirname(older), { recursive: true });
  await rename(path, older);
  await writeFile(join(dirname(older), basename(older).replace("T00", "T01")), await readFile(older), { mode: 0o600 });
  await writeFile(older, "broken\n", { flag: "a" });
  const { stdout } = await setup.doctor();
  expect(stdout).toContain(`  Preview a repair: cody repair ${older}\n`);
  expect((await setup.cli.run(["repair", older])).stdout).toContain("6 bytes, not valid JSON");
});

test("Ctrl-C ends doctor, and the problems found so far are printed", async () => {
  const setup = await DoctorCli.open();
  const { path, lines } = await setup.startConversation();
  for (let number = 100; number < 400; number += 1) {
    await writeLines(join(dirname(path), `conv_${number}.jsonl`), [...lines, "x"]);
  }
  const preload = new URL("preload/interrupt.mjs", import.meta.url).href;
  const env = { ...setup.env, NODE_OPTIONS: `--import=${preload}` };
  const { code, stdout } = await setup.cli.run(["doctor"], { env });
  expect(code).toBe(130);
  expect(stdout).toMatch(/^✗ conv_100: /);
  expect(stdout).toMatch(/Interrupted after \d+ conversations?: \d+ problems?\n$/);
});
