import { cp, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Cli } from "../support/cli.js";
import { FaultyCli, type FaultyResult, type IoFault } from "./io-fault.js";

type Sweep = Pick<IoFault, "call" | "kind" | "stays">;

/** What goes wrong with each call in turn; in words for the name of the test. */
const sweeps: readonly [words: string, fault: Sweep][] = [
  ["write fails once", { call: "write", kind: "EIO" }],
  ["write and every one behind it fails", { call: "write", kind: "EIO", stays: true }],
  ["write and every one behind it finds the disk full", { call: "write", kind: "ENOSPC", stays: true }],
  ["write and every one behind it is over the quota", { call: "write", kind: "EDQUOT", stays: true }],
  ["write takes half of it", { call: "write", kind: "short" }],
  ["write takes half of it before the process is killed", { call: "write", kind: "tear" }],
  ["write is the last moment before the process is killed", { call: "write", kind: "kill" }],
  ["write is the last thing before the process is killed", { call: "write", kind: "killafter" }],
  ["fdatasync fails once", { call: "fdatasync", kind: "EIO" }],
  ["fdatasync and every one behind it fails", { call: "fdatasync", kind: "EIO", stays: true }],
  ["fdatasync is the last moment before the process is killed", { call: "fdatasync", kind: "kill" }],
  ["fdatasync is the last thing before the process is killed", { call: "fdatasync", kind: "killafter" }],
  ["fsync fails once", { call: "fsync", kind: "EIO" }],
  ["fsync is the last moment before the process is killed", { call: "fsync", kind: "kill" }],
  ["open finds too many files open", { call: "open", kind: "EMFILE" }],
  ["open and every one behind it finds the disk full", { call: "open", kind: "ENOSPC", stays: true }],
];
const reasons = { EIO: "input/output error", ENOSPC: "disk full", EDQUOT: "disk quota exceeded" };
const notSaved = /^Failed to save turn: (.+)$/m;
const deadly = new Set<IoFault["kind"]>(["tear", "kill", "killafter"]);

let faulty: FaultyCli;
beforeAll(async () => {
  faulty = await FaultyCli.compile();
});
afterAll(() => faulty.remove());

test.each(sweeps)(
  "in a new conversation any %s, and what was said is saved once or is said not to be",
  async (_, fault) => {
    expect(await playAll([], fault)).toEqual([]);
  },
);

test.each(sweeps)(
  "in one that goes on any %s, and what was said is saved once or is said not to be",
  async (_, fault) => {
    expect(await playAll(["first"], fault)).toEqual([]);
  },
);

/** Gives the calls behind which something was said that is not in a file, or is there twice. */
async function playAll(before: readonly string[], fault: Sweep): Promise<string[]> {
  const wrong: string[] = [];
  const { cli, reset } = await openHome(before);
  const match = cli.conversations;
  const count = await faulty.count(cli, ["chat", "second"], match, fault.call);
  for (let nth = 1; nth <= count; nth += 1) {
    await reset();
    const result = await faulty.run(cli, ["chat", "second"], { ...fault, match, nth });
    const isSaved = expectToldAs(result, fault);
    const next = await cli.run(["chat", "third"]);
    expect(next.code).toBe(0);
    expect(next.stderr).not.toMatch(notSaved);
    const said = await allSaid(cli);
    const possible = [[...before, "second", "third"], ...(isSaved ? [] : [[...before, "third"]])];
    if (!possible.some((each) => isDeepStrictEqual(each, said))) wrong.push(`${fault.call} ${nth}: ${said.join(", ")}`);
    const torn = (await readdir(cli.conversations)).filter((name) => name.includes(".torn-"));
    for (const name of torn) expect(next.stderr).toContain(`is kept in ${name}`);
  }
  return wrong;
}

/** Whatever is saved, the answer is shown and the command has done what it was asked. Gives whether it must be saved. */
function expectToldAs({ code, signal, stdout, stderr, isHit }: FaultyResult, { call, kind, stays }: Sweep): boolean {
  if (isHit && deadly.has(kind)) {
    expect(signal).toBe("SIGKILL");
    return false;
  }
  if (call === "open" && code === 1) {
    // It could not be read, and then nothing is asked.
    expect(stderr).toMatch(/^✗ Cannot open .*\.jsonl: (?:too many open files|disk full)$/m);
    expect(stdout).toBe("");
    return false;
  }
  expect({ code, signal }).toEqual({ code: 0, signal: null });
  expect(stdout).toContain("I heard: second");
  const reason = notSaved.exec(stderr)?.[1];
  if (reason !== undefined && kind in reasons) expect(reason).toBe(reasons[kind as keyof typeof reasons]);
  // What fails once is tried again.
  return reason === undefined || stays !== true;
}

/** A home with these turns in it, which is as it was when it is reset. */
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

/** What users said in all conversations; every whole line must be one. */
async function allSaid(cli: Cli): Promise<string[]> {
  const texts = await Promise.all(
    (await cli.ids()).map((id) => readFile(join(cli.conversations, `${id}.jsonl`), "utf8")),
  );
  const lines = texts.flatMap((text) => text.split("\n").slice(0, -1));
  const payloads = lines.map((line) => (JSON.parse(line) as { payload: { type?: string; message?: string } }).payload);
  return payloads.flatMap(({ type, message = "" }) => (type === "user_message" ? [message] : [])).toSorted();
}

test("in a home that is full a new conversation has an id and is said not to be saved", async () => {
  const cli = await Cli.open({ spawned: true });
  const fault = { match: cli.conversations, call: "open", nth: 1, kind: "ENOSPC", stays: true } as const;
  const { code, stdout, stderr } = await faulty.run(cli, ["new"], fault);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^conv_\S+\n$/);
  expect(stderr).toContain("disk full");
  expect(await cli.ids()).toEqual([]);
});

test.each(["active", "config.json"])(
  "when %s cannot be replaced the old one stays whole, and nothing beside it",
  async (name) => {
    const cli = await openSettings();
    const before = await settingsIn(cli, name);
    const result = await faulty.run(cli, change[name] ?? [], { match: name, call: "rename", nth: 1, kind: "EIO" });
    expect(result.stderr).toMatch(/EIO|input\/output error/);
    expect(await settingsIn(cli, name)).toEqual(before);
  },
);

test.each(["active", "config.json"])(
  "who is killed before %s is replaced leaves the old one whole, and the next tidies up",
  async (name) => {
    const cli = await openSettings();
    const before = await settingsIn(cli, name);
    const result = await faulty.run(cli, change[name] ?? [], { match: name, call: "rename", nth: 1, kind: "kill" });
    expect(result.signal).toBe("SIGKILL");
    expect(await settingsIn(cli, name)).toMatchObject(before);
    await cli.run(change[name] ?? []);
    const after = await settingsIn(cli, name);
    expect(Object.keys(after)).toEqual(Object.keys(before));
    expect(after).not.toEqual(before);
  },
);

/** What makes each file another. */
const change: Readonly<Record<string, readonly string[]>> = {
  active: ["new", "--provider", "offline"],
  "config.json": ["set-provider", "offline"],
};

async function openSettings(): Promise<Cli> {
  const cli = await Cli.open({ spawned: true });
  expect((await cli.run(["new"])).code).toBe(0);
  expect((await cli.run(["set-provider", "openai"])).code).toBe(0);
  return cli;
}

/** The files whose names begin so, or that are in the folder of that name, with what they say. */
async function settingsIn(cli: Cli, name: string): Promise<Record<string, string>> {
  const names = await readdir(cli.home, { recursive: true, withFileTypes: true });
  const files = names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const own = files.filter((path) => path.startsWith(join(cli.home, name))).toSorted();
  return Object.fromEntries(await Promise.all(own.map(async (path) => [path, await readFile(path, "utf8")] as const)));
}
