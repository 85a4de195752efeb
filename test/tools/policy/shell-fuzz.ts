import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { partsOf } from "../../../src/tools/policy/judge-command.js";
import { isLauncher } from "../../../src/tools/policy/launchers.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { addProgram } from "./policy-context.js";

/** Names that the shell looks up as functions, so that every run is recorded without starting a process. */
const names = ["aa", "bb", "cc", "rm", "ls", "no"];

const pieces = [
  names.flatMap((name) => [name, `${name} x`, `${name} -r 'y z'`, `${name} "q"`]),
  ["&&", "||", ";", "|", "&", "|&", "&&&", ";;", "\n", " ", "\t", "  ", "(", ")", "{ ", "; }", "! ", "time "],
  ["$(rm z)", "`rm z`", "$x", '"$(rm z)"', "${x:-`rm z`}", "$'rm'", '$"rm"', "\\", "\\\n", "'", '"', "`", "$(", "${"],
  [
    "> out",
    "< /dev/null",
    "2>&1",
    "<<E\nrm z\nE\n",
    "A=1 ",
    "x=rm;",
    "*",
    "[ab]",
    "{rm,ls}",
    "~",
    "#",
    "# rm",
    "é",
    "\u00a0",
  ],
  [
    "if ls; then rm; fi",
    "for i in a; do rm; done",
    "f() { rm; }",
    "case x in x) rm;; esac",
    "alias aa=rm",
    "eval 'rm z'",
  ],
  [
    "\\r",
    "\\rm",
    "r''m",
    'r"m"',
    "'rm'",
    "rm\\ x",
    "a~",
    "-",
    "--",
    "=",
    ":",
    "/",
    "\r",
    "exec rm",
    "[[ x ]]",
    "((x))",
  ],
].flat();

/** Numbers from a seed, so that a failure can be repeated. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Lines of shell fragments; most are joined by operators, so that many of them are plain. */
export function generatedLines(count: number, seed: number): string[] {
  const next = random(seed);
  const pick = <T>(from: readonly T[]): T | undefined => from[next(from.length)];
  const plain = pieces.slice(0, names.length * 4);
  const joints = [" && ", " || ", "; ", " | ", ";", "|", "&&"];
  return Array.from({ length: count }, () => {
    const parts = Array.from({ length: 1 + next(5) }, () => pick(plain) ?? "");
    let line = parts.reduce((text, part) => `${text}${pick(joints)}${part}`);
    for (let left = next(4); left > 0; left -= 1) {
      const at = next(line.length + 1);
      line = line.slice(0, at) + pick(pieces) + line.slice(at);
    }
    return line;
  });
}

export interface FuzzResult {
  /** How many lines the policy took apart completely, and how many commands the shell ran for them. */
  readonly plain: number;
  readonly ran: number;
  /** The lines for which the shell ran something that the policy had not seen. */
  readonly missed: readonly { readonly line: string; readonly ran: string; readonly seen: readonly string[] }[];
}

/** Gives every line that counts as plain to a real shell, and compares what it runs with what the policy saw. */
export async function fuzzShell(shell: string, lines: readonly string[]): Promise<FuzzResult> {
  const folder = await temporaryFolder();
  await addProgram(folder, "sh");
  const places = { path: folder, unsafe: [], workspace: [] };
  const seen = new Map<number, string[]>();
  for (const [index, line] of lines.entries()) {
    const parts = await partsOf({ argv: ["sh", "-c", line], cwd: folder }, places);
    // `eval` and its like are plain commands, too, but no rule with `*` allows one.
    const isOpen = parts.type !== "exact" || parts.parts.some(({ argv: [name = ""] }) => isLauncher(name));
    // The members of a pipeline write at the same time, and some shells write each line of an argument on its own.
    if (isPiped(line) && line.includes("\n")) continue;
    if (!isOpen)
      seen.set(
        index,
        parts.parts.map(({ argv }) => argv.join("\x1f")),
      );
  }
  const log = join(folder, "log");
  const functions = names.map((name) => `${name}() { record ${name} "$@"; ${name === "no" ? "return 1; " : ""}}`);
  // One write for each command, because the members of a pipeline run at the same time.
  const record = [
    `sep="$(printf '\\037')"`,
    `record() { text="$line"; for each in "$@"; do text="$text$sep$each"; done; printf '%s\\036' "$text" >> ${log}; }`,
  ].join("\n");
  const runs = [...seen.keys()].map(
    (index) => `line=${index}; echo "@${index}@" >&2; ( eval ${quoted(lines[index] ?? "")} ) < /dev/null`,
  );
  const script = join(folder, "script");
  writeFileSync(script, [record, ...functions, `: > ${log}`, ...runs, "exit 0", ""].join("\n"));
  // A name that is no function is looked up in an empty folder, and the shell reports that it was not found.
  const { stderr } = spawnSync(shell, [script], {
    cwd: folder,
    env: { PATH: join(folder, "empty"), LC_ALL: "C.UTF-8" },
    stdio: ["ignore", "ignore", "pipe"],
    encoding: "utf8",
    maxBuffer: 1 << 28,
  });
  const ran = readFileSync(log, "utf8").split("\x1e").filter(Boolean);
  const missed = ran.flatMap((entry) => {
    const [index = "", ...argv] = entry.split("\x1f");
    const known = seen.get(Number(index)) ?? [];
    const text = argv.join("\x1f");
    return known.includes(text) ? [] : [{ line: lines[Number(index)] ?? "", ran: text, seen: known }];
  });
  const notFound = stderr.split(/^@(?=\d+@$)/m).flatMap((text) => {
    const index = Number.parseInt(text, 10);
    if (isPiped(lines[index] ?? "")) return [];
    const known = seen.get(index) ?? [];
    const looked = [...text.matchAll(/: ([^:\n]+): (?:command )?not found$/gm)].map(([, name = ""]) => shownName(name));
    const isKnown = (name: string): boolean => known.some((argv) => argv.split("\x1f")[0] === name);
    return looked
      .filter((name) => !isKnown(name))
      .map((name) => ({ line: lines[index] ?? "", ran: name, seen: known }));
  });
  return { plain: seen.size, ran: ran.length, missed: [...missed, ...notFound] };
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function isPiped(line: string): boolean {
  return /(?<!\|)\|(?!\|)/.test(line);
}

/** The name in an error of bash, which writes control characters as in `$'a\\nb'`. */
function shownName(text: string): string {
  const [, inner] = /^\$'(.*)'$/.exec(text) ?? [];
  const escapes: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r" };
  return inner === undefined ? text : inner.replaceAll(/\\(.)/g, (_, char: string) => escapes[char] ?? char);
}
