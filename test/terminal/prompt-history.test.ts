import { execFile } from "node:child_process";
import { chmod, mkdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { redactionRules } from "../../src/config/secrets/redact.js";
import { createTextRedactor } from "../../src/config/secrets/text-redactor.js";
import {
  maxFileBytes,
  maxSavedChars,
  maxTexts,
  PromptHistory,
  type PromptHistoryOptions,
} from "../../src/cli/terminal/model/prompt-history.js";
import { bundleModule } from "../support/bundle.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const redactor = createTextRedactor(redactionRules({}, { DEPLOY_TOKEN: "c0ffee-c0ffee-c0ffee" }));

async function historyFile(): Promise<string> {
  return join(await temporaryFolder(), "home", "prompt-history.jsonl");
}

async function opened(file: string | undefined, options: Partial<PromptHistoryOptions> = {}): Promise<PromptHistory> {
  const history = PromptHistory.open({ file, redactor, now: () => 0, ...options });
  await history.flush();
  return history;
}

function textsOf(history: PromptHistory): string[] {
  return Array.from({ length: history.size }, (_, index) => history.at(history.size - index) ?? "");
}

async function textsIn(file: string): Promise<string[]> {
  return textsOf(await opened(file));
}

describe("the texts of one process", () => {
  it("are counted from the newest, without empty ones and repetitions", async () => {
    const history = await opened(undefined);
    for (const text of ["one", "one", " \n", "two", "one"]) history.add(text);
    expect(textsOf(history)).toEqual(["one", "two", "one"]);
    expect([history.at(0), history.at(1), history.at(3), history.at(4)]).toEqual([undefined, "one", "one", undefined]);
  });

  it("are limited in number", async () => {
    const history = await opened(undefined);
    for (let count = 0; count < maxTexts + 5; count += 1) history.add(`text ${count}`);
    expect([history.size, history.at(maxTexts)]).toEqual([maxTexts, "text 5"]);
  });
});

describe("the saved texts", () => {
  it("are there in the next process, in a file that only the user can read", async () => {
    const file = await historyFile();
    const history = await opened(file);
    history.add("one\nwith two lines");
    history.add("two");
    await history.flush();
    expect(await textsIn(file)).toEqual(["one\nwith two lines", "two"]);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const [line] = (await readFile(file, "utf8")).split("\n");
    expect(JSON.parse(line ?? "")).toEqual({ timestamp: "1970-01-01T00:00:00.000Z", text: "one\nwith two lines" });
  });

  it("stay behind those of this process when they are read later", async () => {
    const file = await historyFile();
    const first = await opened(file);
    first.add("saved");
    await first.flush();
    const history = PromptHistory.open({ file, redactor, now: () => 0 });
    history.add("typed at once");
    await history.flush();
    expect(textsOf(history)).toEqual(["saved", "typed at once"]);
    expect(await textsIn(file)).toEqual(["saved", "typed at once"]);
  });

  it("contain no secrets, while this process still has the text as it was", async () => {
    const file = await historyFile();
    const history = await opened(file);
    history.add("deploy with c0ffee-c0ffee-c0ffee and api_key=abc123def456ghi789");
    await history.flush();
    expect(history.at(1)).toContain("c0ffee");
    expect(await readFile(file, "utf8")).not.toMatch(/c0ffee|abc123/);
    expect(await textsIn(file)).toEqual(["deploy with [redacted] and api_key=[redacted]"]);
  });

  it("are not written when nothing is saved", async () => {
    const file = await historyFile();
    const history = await opened(undefined);
    history.add("one");
    await history.flush();
    await expect(stat(file)).rejects.toThrow("ENOENT");
  });

  it("leave out what is too long for a line", async () => {
    const file = await historyFile();
    const history = await opened(file);
    history.add("x".repeat(maxSavedChars + 1));
    history.add("y".repeat(maxSavedChars));
    await history.flush();
    expect(history.size).toBe(2);
    expect(await textsIn(file)).toEqual(["y".repeat(maxSavedChars)]);
  });

  it("survive torn and foreign lines", async () => {
    const file = await historyFile();
    const history = await opened(file);
    history.add("one");
    await history.flush();
    const foreign = ["{", "null", "[]", '{"text":7}', '{"text":" "}', "\u0000", '{"timestamp":"1970","text":"to'];
    await writeFile(file, foreign.join("\n"), { flag: "a" });
    const next = await opened(file);
    expect(textsOf(next)).toEqual(["one"]);
    next.add("two");
    await next.flush();
    expect(await textsIn(file)).toEqual(["one", "two"]);
  });

  it("are shortened to the newest when the file has grown too large", async () => {
    const file = await historyFile();
    await mkdir(join(file, ".."));
    const lines = Array.from({ length: 600 }, (_, index) => JSON.stringify({ text: `${index} ${"x".repeat(5_000)}` }));
    await writeFile(file, `${lines.join("\n")}\n`);
    const history = await opened(file);
    expect(history.size).toBe(600);
    history.add("newest");
    await history.flush();
    const { size, mode } = await stat(file);
    expect(size).toBeLessThanOrEqual(maxFileBytes / 2);
    expect(size).toBeGreaterThan(maxFileBytes / 3);
    expect(mode & 0o777).toBe(0o600);
    const kept = await textsIn(file);
    expect(kept.at(-1)).toBe("newest");
    expect(kept.slice(0, -1)).toEqual(textsOf(history).slice(-kept.length, -1));
  });

  it("lose nothing when several processes add to them", async () => {
    const file = await historyFile();
    const child = fileURLToPath(new URL("../support/children/prompter.ts", import.meta.url));
    await using program = await bundleModule(child);
    const sets = [0, 1, 2].map((process) => Array.from({ length: 10 }, (_, index) => `${process}-${index}`));
    const run = promisify(execFile);
    await Promise.all(sets.map((texts) => run(process.execPath, [program.file, JSON.stringify({ file, texts })])));
    const saved = await textsIn(file);
    expect(saved.toSorted()).toEqual(sets.flat().toSorted());
    for (const texts of sets) expect(saved.filter((text) => texts.includes(text))).toEqual(texts);
  });

  it.each<[string, (file: string) => Promise<unknown>]>([
    ["a folder", (file) => mkdir(file)],
    ["a link to another file", (file) => symlink("/etc/hostname", file)],
  ])("report once that they cannot be saved because of %s, and nothing else changes", async (_name, block) => {
    const file = await historyFile();
    await mkdir(join(file, ".."));
    await block(file);
    const problems: string[] = [];
    const history = await opened(file, { onProblem: (text) => problems.push(text) });
    history.add("one");
    history.add("two");
    await history.flush();
    expect(textsOf(history)).toEqual(["one", "two"]);
    expect(problems).toEqual([
      expect.stringMatching(/^Cannot save the prompt history in .+: .+\. Sent texts are kept until cody ends\.$/),
    ]);
  });

  it("are not written to a file that others can read", async () => {
    const file = await historyFile();
    await mkdir(join(file, ".."));
    await writeFile(file, "");
    await chmod(file, 0o644);
    const history = await opened(file);
    history.add("one");
    await history.flush();
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });
});
