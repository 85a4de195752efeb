import { readFileSync } from "node:fs";
import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { judgeCall } from "../../../src/tools/policy/approval-policy.js";
import { policyWorld, type World } from "./policy-context.js";

/** A generous user's rules; everything else has to be asked about. */
const allow = [
  ["ls *", "cat *", "echo *", "pwd", "true", "wc *", "head *", "grep *", "git status *", "git diff *", "git log *"],
  ["npm test *", "npm run *", "node scripts/build.mjs *", "tsc --noEmit", "make check", "python manage.py *"],
  ["find . -name x", "command:git grep *"],
].flat();

const programs = [
  ["ls", "cat", "echo", "wc", "head", "grep", "git", "npm", "node", "tsc", "make", "python", "python3", "find", "rm"],
  [
    "env",
    "bash",
    "dash",
    "sudo",
    "xargs",
    "sed",
    "awk",
    "tar",
    "rg",
    "ssh",
    "curl",
    "tee",
    "touch",
    "mkdir",
    "git-status",
  ],
].flat();

const rows = readFileSync(new URL("tricky-commands.txt", import.meta.url), "utf8")
  .split("\n")
  .filter((line) => /^(?:run|ask) ?/.test(line))
  .map((line) => ({ expected: line.slice(0, 3), command: unescaped(line.slice(4)) }));

function unescaped(text: string): string {
  return text.replaceAll(/\\(?:x([0-9a-f]{2})|u\{([0-9a-f]+)\}|([ntr\\]))/g, (_, byte, code, name: string) =>
    name === undefined
      ? String.fromCodePoint(Number.parseInt(byte ?? code, 16))
      : ({ n: "\n", t: "\t", r: "\r", "\\": "\\" }[name] ?? ""),
  );
}

async function decision(command: string, { context, workspace }: World): Promise<string> {
  const access = { type: "command", isEscalated: false } as const;
  const judged = await judgeCall(
    { tool: "shell", readOnly: false, command: { argv: ["sh", "-c", command], cwd: workspace, access } },
    context,
  );
  return judged.type;
}

test("without a sandbox, of many tricky commands only those that rules allow run without a question", async () => {
  expect(rows.length).toBeGreaterThanOrEqual(300);
  const world = await policyWorld({ user: { allow }, programs });
  const { workspace, outside } = world;
  await Promise.all(["src", "sub", "bin"].map((name) => mkdir(join(workspace, name))));
  await symlink(outside, join(workspace, "link-out"));
  const judged = await Promise.all(
    rows.map(async ({ expected, command }) => ({ command, expected, decision: await decision(command, world) })),
  );
  expect(judged.filter((row) => row.decision !== row.expected)).toEqual([]);
});
