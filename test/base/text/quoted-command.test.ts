import { execFile, execFileSync, spawnSync } from "node:child_process";
import { promisify } from "node:util";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { quotedCommand } from "../../../src/base/text/quoted-command.js";
import { isVisible } from "../../../src/base/text/visible.js";

test.each([
  [["npm", "test"], "npm test"],
  [["git", "commit", "-m", "it's done"], "git commit -m 'it'\\''s done'"],
  [["bash", "-lc", "ls | wc -l"], "bash -lc 'ls | wc -l'"],
  [["printf", "a\nb\t\r\\'"], "printf $'a\\nb\\t\\r\\\\\\''"],
  [["echo", "\u001b]52;c;eA==\u0007"], "echo $'\\033]52;c;eA==\\007'"],
  [["echo", "\u202etxt.exe"], "echo $'\\342\\200\\256txt.exe'"],
  [["rm", "a\u00a0b"], "rm $'a\\302\\240b'"],
  [["rm", "a\u2800\u3164b"], "rm $'a\\342\\240\\200\\343\\205\\244b'"],
  [["echo", "", "~", "$HOME", "*", "größe", "é"], "echo '' '~' '$HOME' '*' 'größe' 'é'"],
  [["FOO=bar", "--key=value"], "'FOO=bar' --key=value"],
  [["if", "if", "=ls"], "'if' if '=ls'"],
  [["echo", "a\u0301\u0301\u0301\u0301"], "echo $'a\u0301\u0301\u0301\\314\\201'"],
  [["echo", "\ud800"], "echo $'\\357\\277\\275'"],
])("%j is quoted as %s", (argv, shown) => {
  expect(quotedCommand(argv)).toBe(shown);
});

const nasty = Array.from("'\"\\$`!*?[]{}()<>|&;#~=% \n\t\r\u001b\u007f\u0085\u202e\u200b07afx");
const texts = fc.oneof(
  fc.string({ unit: "binary", maxLength: 12 }),
  fc.string({
    unit: fc.constantFrom(...nasty),
    maxLength: 12,
  }),
  fc.string({ unit: "grapheme", maxLength: 12 }),
);
/** Without NUL, which no process argument can contain. */
const vectors = fc.array(
  texts.map((text) => text.replaceAll("\0", "")),
  { minLength: 1, maxLength: 5 },
);

test("a shell parses the quoted command into the original arguments", async () => {
  const cases = fc.sample(vectors, 500);
  const script = cases.map((argv) => `printf '%s\\0' ${quotedCommand(argv)}; printf '%s\\0' ${caseEnd}\n`).join("");
  const { stdout } = await promisify(execFile)(shell(), ["-c", script], { encoding: "buffer", maxBuffer: 2 ** 26 });
  const read = stdout.toString("utf8").split(`${caseEnd}\0`).slice(0, -1);
  expect(read).toEqual(cases.map((argv) => argv.map((word) => `${word.toWellFormed()}\0`).join("")));
});

test("a command of visible characters is parsed by any POSIX sh", () => {
  const cases = fc.sample(vectors, 500).filter((argv) => argv.every(isVisible));
  expect(cases.length).toBeGreaterThan(50);
  const script = cases.map((argv) => `printf '%s\\0' ${quotedCommand(argv)}\n`).join("");
  expect(execFileSync("sh", ["-c", script]).toString()).toBe(cases.map((argv) => `${argv.join("\0")}\0`).join(""));
});

test("a quoted command has only visible characters and one line", () => {
  fc.assert(
    fc.property(vectors, (argv) => {
      expect(isVisible(quotedCommand(argv))).toBe(true);
    }),
  );
});

const caseEnd = "end-of-case-7d1c";

/** A shell that supports `$'…'`, which is POSIX only since 2024 and missing in dash. */
function shell(): string {
  return spawnSync("sh", ["-c", "printf %s $'\\101'"]).stdout.toString() === "A" ? "sh" : "bash";
}
