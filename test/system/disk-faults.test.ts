import { cp, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Cli } from "../support/cli.js";
import { FaultyCli, type FaultyResult, type IoFault } from "./io-fault.js";

type Sweep = Pick<IoFault, "call" | "kind" | "stays">;

/** The fault injected into each call in turn, described for the test title. */
const faults: readonly [words: string, fault: Sweep][] = [
  ["write fails once", { call: "write", kind: "EIO" }],
  ["write and every later one fails", { call: "write", kind: "EIO", stays: true }],
  ["write and every later one fails with a full disk", { call: "write", kind: "ENOSPC", stays: true }],
  ["write and every later one exceeds the quota", { call: "write", kind: "EDQUOT", stays: true }],
  ["write is short", { call: "write", kind: "short" }],
  ["write is short and the process is killed", { call: "write", kind: "tear" }],
  ["write is preceded by a kill of the process", { call: "write", kind: "kill" }],
  ["write is followed by a kill of the process", { call: "write", kind: "killafter" }],
  ["fdatasync fails once", { call: "fdatasync", kind: "EIO" }],
  ["fdatasync and every later one fails", { call: "fdatasync", kind: "EIO", stays: true }],
  ["fdatasync is preceded by a kill of the process", { call: "fdatasync", kind: "kill" }],
  ["fdatasync is followed by a kill of the process", { call: "fdatasync", kind: "killafter" }],
  ["fsync fails once", { call: "fsync", kind: "EIO" }],
  ["fsync is preceded by a kill of the process", { call: "fsync", kind: "kill" }],
  ["open fails with too many open files", { call: "open", kind: "EMFILE" }],
  ["open and every later one fails with a full disk", { call: "open", kind: "ENOSPC", stays: true }],
];
const reasons = { EIO: "input/output error", ENOSPC: "disk full", EDQUOT: "disk quota exceeded" };
const notSaved = /^Failed to save turn: (.+)$/m;
const killingFaults = new Set<IoFault["kind"]>(["tear", "kill", "killafter"]);

let faulty: FaultyCli;
beforeAll(async () => {
  faulty = await FaultyCli.compile();
});
afterAll(() => faulty.remove());

test.each(faults)(
  "in a new conversation any %s, and the message is saved once or reported as not saved",
  async (_, fault) => {
    expect(await findUnsafeCalls([], fault)).toEqual([]);
  },
);

test.each(faults)(
  "in a continued conversation any %s, and the message is saved once or reported as not saved",
  async (_, fault) => {
    expect(await findUnsafeCalls(["first"], fault)).toEqual([]);
  },
);

/** Returns the calls after which a message is missing from the file or in it twice. */
async function findUnsafeCalls(before: readonly string[], fault: Sweep): Promise<string[]> {
  const wrong: string[] = [];
  const { cli, reset } = await openHome(before);
  const match = cli.conversations;
  const count = await faulty.count(cli, ["chat", "second"], match, fault.call);
  for (let nth = 1; nth <= count; nth += 1) {
    await reset();
    const result = await faulty.run(cli, ["chat", "second"], { ...fault, match, nth });
    const isSaved = expectOutcome(result, fault);
    const next = await cli.run(["chat", "third"]);
    expect(next.code).toBe(0);
    expect(next.stderr).not.toMatch(notSaved);
    const said = await allUserMessages(cli);
    const possible = [[...before, "second", "third"], ...(isSaved ? [] : [[...before, "third"]])];
    if (!possible.some((each) => isDeepStrictEqual(each, said))) wrong.push(`${fault.call} ${nth}: ${said.join(", ")}`);
    const torn = (await readdir(cli.conversations)).filter((name) => name.includes(".torn-"));
    for (const name of torn) expect(next.stderr).toContain(`were moved to ${name}`);
  }
  return wrong;
}

/** Expects the answer to be shown and the exit code to be 0, saved or not. Returns whether the turn must be saved. */
function expectOutcome({ code, signal, stdout, stderr, isHit }: FaultyResult, { call, kind, stays }: Sweep): boolean {
  if (isHit && killingFaults.has(kind)) {
    expect(signal).toBe("SIGKILL");
    return false;
  }
  if (call === "open" && code === 1) {
    // The rollout could not be read, so no request was sent.
    expect(stderr).toMatch(/^✗ Cannot open .*\.jsonl: (?:too many open files|disk full)$/m);
    expect(stdout).toBe("");
    return false;
  }
  expect({ code, signal }).toEqual({ code: 0, signal: null });
  expect(stdout).toContain("I heard: second");
  const reason = notSaved.exec(stderr)?.[1];
  if (reason !== undefined && kind in reasons) expect(reason).toBe(reasons[kind as keyof typeof reasons]);
  // A write that fails once is retried.
  return reason === undefined || stays !== true;
}

/** A home with these turns; reset restores it. */
async function openHome(before: readonly string[]): Promise<{ cli: Cli; reset: () => Promise<void> }> {
  const cli = await Cli.open({ spawned: true });
  const kept = join(cli.project, "kept");
  for (const text of before) expect((await cli.run(["chat", text])).code).toBe(0);
  if (before.length > 0) await cp(cli.home, kept, { recursive: true });
  return {
    cli,
    reset: async () => {
      await rm(cli.home, { recursive: true, force: true });
      if (before.length > 0) await cp(kept, cli.home, { recursive: true });
    },
  };
}

/** The user messages of all conversations; every complete line must be valid JSON. */
async function allUserMessages(cli: Cli): Promise<string[]> {
  const texts = await Promise.all(
    (await cli.ids()).map((id) => readFile(join(cli.conversations, `${id}.jsonl`), "utf8")),
  );
  const lines = texts.flatMap((text) => text.split("\n").slice(0, -1));
  const payloads = lines.map((line) => (JSON.parse(line) as { payload: { type?: string; message?: string } }).payload);
  return payloads.flatMap(({ type, message = "" }) => (type === "user_message" ? [message] : [])).toSorted();
}

test("in a full home a new conversation has an id and is reported as not saved", async () => {
  const cli = await Cli.open({ spawned: true });
  const fault = { match: cli.conversations, call: "open", nth: 1, kind: "ENOSPC", stays: true } as const;
  const { code, stdout, stderr } = await faulty.run(cli, ["new"], fault);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^conv_\S+\n$/);
  expect(stderr).toContain("disk full");
  expect(await cli.ids()).toEqual([]);
});

test.each(["active", "config.json"])(
  "when %s cannot be replaced the old file stays intact, without a temporary file",
  async (name) => {
    const cli = await openWithSettings();
    const before = await settingsIn(cli, name);
    const result = await faulty.run(cli, changeCommands[name] ?? [], {
      match: name,
      call: "rename",
      nth: 1,
      kind: "EIO",
    });
    expect(result.stderr).toMatch(/EIO|input\/output error/);
    expect(await settingsIn(cli, name)).toEqual(before);
  },
);

test.each(["active", "config.json"])(
  "a process killed before %s is replaced leaves the old file intact, and the next one removes the leftovers",
  async (name) => {
    const cli = await openWithSettings();
    const before = await settingsIn(cli, name);
    const result = await faulty.run(cli, changeCommands[name] ?? [], {
      match: name,
      call: "rename",
      nth: 1,
      kind: "kill",
    });
    expect(result.signal).toBe("SIGKILL");
    expect(await settingsIn(cli, name)).toMatchObject(before);
    await cli.run(changeCommands[name] ?? []);
    const after = await settingsIn(cli, name);
    expect(Object.keys(after)).toEqual(Object.keys(before));
    expect(after).not.toEqual(before);
  },
);

/** The command that changes each file. */
const changeCommands: Readonly<Record<string, readonly string[]>> = {
  active: ["new", "--provider", "offline"],
  "config.json": ["set-provider", "offline"],
};

async function openWithSettings(): Promise<Cli> {
  const cli = await Cli.open({ spawned: true });
  expect((await cli.run(["new"])).code).toBe(0);
  expect((await cli.run(["set-provider", "openai"])).code).toBe(0);
  return cli;
}

/** The files whose path starts with this name, with their contents. */
async function settingsIn(cli: Cli, name: string): Promise<Record<string, string>> {
  const names = await readdir(cli.home, { recursive: true, withFileTypes: true });
  const files = names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const own = files.filter((path) => path.startsWith(join(cli.home, name))).toSorted();
  return Object.fromEntries(await Promise.all(own.map(async (path) => [path, await readFile(path, "utf8")] as const)));
}
