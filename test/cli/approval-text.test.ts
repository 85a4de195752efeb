import * as fc from "fast-check";
import { expect, test } from "vitest";
import { approvalText } from "../../src/cli/terminal/approval-text.js";

const choices =
  "Allow? [y] yes, once  [a] always allow this command in this conversation  [n] no, or n and what to do instead  [s] no, and stop the turn\n";
const ids = { approval_id: "a", call_id: "c", turn_id: "t", tool: "shell" };
const writes = { ...ids, tool: "write_file" };

test("the approval text shows the command, its folder and the reason", () => {
  const reason = "no sandbox: every command needs approval";
  expect(approvalText({ ...ids, command: ["npm", "test"], cwd: "/projects/site", reason })).toBe(
    `Run this command in /projects/site?\n(${reason})\n\n  npm test\n\n${choices}`,
  );
});

test("the folder and the reason cannot imitate the question", () => {
  const text = approvalText({ ...ids, command: ["ls"], cwd: "/projects/a\nb", reason: "x\n  ls\n\nRun it?\u001b[2J" });
  expect(text).toBe(`Run this command in $'/projects/a\\nb'?\n(x\\n  ls\\n\\nRun it?\\033[2J)\n\n  ls\n\n${choices}`);
});

test("a long command is shown in full with its character count", () => {
  const script = `ls${" ".repeat(10_000)}; curl evil`;
  const text = approvalText({ ...ids, command: ["sh", "-c", script], cwd: "/projects" });
  expect(text.replaceAll("\n  ┆ ", "")).toBe(
    `Run this command in /projects?\n\n  sh -c '${script}'\n\nThe command has ${script.length + 6} characters.\n\n${choices}`,
  );
});

test("a long reason is truncated visibly", () => {
  expect(approvalText({ ...ids, command: ["ls"], cwd: "/", reason: "x".repeat(501) }, 1_000)).toContain(
    `\n(${"x".repeat(500)}…)\n`,
  );
});

test("a line longer than the terminal wraps behind a marker, so it cannot imitate the question", () => {
  const content = `${"x".repeat(36)}Run it? [y]\n\t\t\t\tRun it?\n${"字".repeat(40)}\n`;
  const command = ["write_file", `/projects/${"y".repeat(28)}Run it`, content];
  expect(approvalText({ ...writes, command, cwd: "/projects" }, 40)).toBe(
    `Run this command in /projects?

  write_file '/projects/${"y".repeat(16)}
  ┆ ${"y".repeat(12)}Run it'
  │ ${"x".repeat(35)}
  ┆ xRun it? [y]
  │ \t\t\t\tRun
  ┆  it?
  │ ${"字".repeat(17)}
  ┆ ${"字".repeat(17)}
  ┆ ${"字".repeat(6)}

${choices}`,
  );
});

test.each([undefined, 0])("a width of %s falls back to 100 columns", (columns) => {
  const text = approvalText({ ...ids, command: ["ls", "x".repeat(100)], cwd: "/projects" }, columns);
  expect(text).toContain(`\n  ls ${"x".repeat(95)}\n  ┆ xxxxx\n`);
});

test("a file write is shown with its lines", () => {
  const content = "# Notes\n\n\tdone: \\o/\nhidden\u202e'\n";
  expect(approvalText({ ...writes, command: ["write_file", "my notes.md", content], cwd: "/projects" })).toBe(
    `Run this command in /projects?

  write_file 'my notes.md'
  │ # Notes
  │ 
  │ \tdone: \\o/
  │ $'hidden\\342\\200\\256\\''

${choices}`,
  );
});

test.each([
  ["", "  write_file a\n  (empty file)\n"],
  ["a", "  write_file a\n  │ a\n  (no newline at end of file)\n"],
  ["\n", "  write_file a\n  │ \n"],
])("the content %j is shown unchanged", (content, shown) => {
  expect(approvalText({ ...writes, command: ["write_file", "a", content], cwd: "/projects" })).toContain(
    `\n${shown}\n`,
  );
});

test("a command with the same name as the tool is shown as a command", () => {
  expect(approvalText({ ...ids, command: ["write_file", "a", "b\n"], cwd: "/projects" })).toContain(
    "\n  write_file a $'b\\n'\n",
  );
});

test("control characters are escaped and every line of the request is indented", () => {
  const texts = fc.oneof(fc.string({ unit: "binary", maxLength: 30 }), fc.string({ unit: "grapheme", maxLength: 60 }));
  const commands = fc.oneof(
    fc.array(texts, { minLength: 1, maxLength: 4 }),
    fc.tuple(fc.constant("write_file"), texts, texts),
  );
  fc.assert(
    fc.property(commands, fc.integer({ min: 40, max: 120 }), (command, columns) => {
      const text = approvalText({ ...ids, tool: command[0] ?? "", command, cwd: "/projects" }, columns);
      // oxlint-disable-next-line no-control-regex -- control characters are the subject of this test
      expect(text).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/);
      const lines = text.slice(0, -choices.length).trimEnd().split("\n").slice(1);
      expect(lines.filter((line) => line !== "" && !line.startsWith("  "))).toEqual([]);
      expect(lines.filter((line) => Array.from(line).length > columns)).toEqual([]);
      expect(text.isWellFormed()).toBe(true);
    }),
  );
});

test("a patch is shown per file with its change, and its text cannot imitate cody's own output", () => {
  const changes = {
    "/projects/a b": {
      type: "update" as const,
      unified_diff: "@@ -1 +1 @@\n-old\n+new\u202e\n",
      move_path: "/projects/c",
    },
    "/projects/n": { type: "add" as const, content: "one\n\nRun it? [y]" },
    "/projects/x": { type: "delete" as const, content: "gone\n" },
  };
  const command = ["apply_patch", "*** Begin Patch", "/projects/a b"];
  const reason = null;
  expect(approvalText({ ...ids, tool: "apply_patch", command, cwd: "/projects", changes, reason })).toBe(
    `Make these changes in /projects?

  apply_patch
  change '/projects/a b' and move it to /projects/c
  │ @@ -1 +1 @@
  │ -old
  │ $'+new\\342\\200\\256'
  add /projects/n
  │ +one
  │ +
  │ +Run it? [y]
  delete /projects/x (1 line)

${choices}`,
  );
});
