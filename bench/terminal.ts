// Measures the interactive screen: cody in a pseudo-terminal, with a mock server on the loopback interface.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { setTimeout } from "node:timers/promises";
import { PtyProgram } from "../test/terminal/support/pty-program.js";
import { interleaved, median } from "./support/measure.js";
import { ScriptedServer } from "./support/scripted-server.js";
import { met, printTable } from "./support/table.js";
import { temporaryDirectory } from "./support/temporary-directory.js";

const rounds = Number(process.env["TERMINAL_ROUNDS"] ?? 5);
const interrupts = Number(process.env["TERMINAL_INTERRUPTS"] ?? 200);
const longLines = Number(process.env["TERMINAL_LINES"] ?? 100_000);
const [answerChars, deltas] = [24_000, 2_000];
const goals = { cpuMs: 300, echoMs: 16, firstPaint: 1.3, interruptMs: 300, grownMb: 40 };
const linesPerAnswer = 5_000;

/** Patterns of the prompt and of an interruption on the interactive screen and with `--plain`. */
const shown = { prompt: /^[›>]/m, interrupted: /Interrupted/ };
const [enter, clearLine, escape, controlC] = ["\r", "\u0015", "\u001b", "\u0003"];
// oxlint-disable-next-line no-control-regex -- escape sequences are what this is about
const fullClear = /\u001b\[[23]J|\u001bc|\u001b\[H\u001b\[J/g;
const keyEveryMs = 25;
const ticksPerSecond = 100;

/** A program that does nothing but show what is typed. Ctrl-U removes it. */
const bareEcho = `let typed = "ready";
process.stdin.setRawMode(true).on("data", (keys) => {
  typed = (typed + keys).replace(/^.*\\x15/, "");
  process.stdout.write("\\r" + typed);
});
process.stdout.write(typed);`;

const cli = fileURLToPath(new URL("../../dist/cli/main.cjs", import.meta.url));
await using directory = await temporaryDirectory();
using server = await ScriptedServer.start();
let homes = 0;
let marks = 0;

/** An answer with every Markdown element once per 600 characters. */
const markdown = Array.from({ length: Math.ceil(answerChars / 600) }, (_section, index) => section(index))
  .join("\n\n")
  .slice(0, answerChars);

const parts: Readonly<Record<string, () => Promise<void>>> = {
  start: compareStarts,
  stream: measureStream,
  long: measureLongTranscript,
  interrupts: measureInterrupts,
};
for (const part of process.env["TERMINAL_PARTS"]?.split(",") ?? Object.keys(parts)) await parts[part]?.();

/** First paint of `cody`, next to the start of `cody chat`, which is over when its request has arrived. */
async function compareStarts(): Promise<void> {
  await server.answer({ text: "Hello." });
  const screen = "cody, first paint";
  const chat = "cody chat, until its request";
  const typed = "cody, until a typed key is shown";
  const measured = await interleaved(11, [
    { name: screen, measure: () => startOf((program) => program.shows(shown.prompt)) },
    { name: typed, measure: () => startOf(acceptsKeys) },
    { name: chat, measure: chatStart },
  ]);
  const base = measured.get(chat) ?? Number.NaN;
  printTable(
    "Start, wall time (median of 11)",
    ["", "ms", `x ${chat}`, "goal", ""],
    [screen, typed, chat].map((name) => {
      const ms = measured.get(name) ?? Number.NaN;
      const judged = name === screen ? [`<= ${goals.firstPaint}`, met(ms / base <= goals.firstPaint)] : ["", ""];
      return [name, ms.toFixed(0), (ms / base).toFixed(2), ...judged];
    }),
  );
}

async function startOf(isStarted: (program: PtyProgram) => Promise<void>): Promise<number> {
  const begin = performance.now();
  await using program = open([]);
  await isStarted(program);
  return performance.now() - begin;
}

async function acceptsKeys(program: PtyProgram): Promise<void> {
  await program.shows(shown.prompt);
  await echoed(program, "~");
}

async function chatStart(): Promise<number> {
  const { cwd, env } = place();
  const begin = performance.now();
  const requested = server.requested();
  const child = spawn(process.execPath, [cli, "chat", "hello"], { cwd, env, stdio: "ignore" });
  await requested;
  const ms = performance.now() - begin;
  await once(child, "exit");
  return ms;
}

async function measureStream(): Promise<void> {
  const screen = await streamed([]);
  const plain = await streamed(["--plain"]);
  const echo = await echoWhileStreaming();
  printTable(
    `An answer of ${answerChars / 1000} KB of Markdown in ${deltas} deltas, 10 every 5 ms (median of ${rounds})`,
    ["", "value", "goal", ""],
    [
      [
        "CPU of the process in the turn",
        `${screen.cpuMs} ms`,
        `<= ${goals.cpuMs} ms`,
        met(screen.cpuMs <= goals.cpuMs),
      ],
      ["the same with --plain", `${plain.cpuMs} ms`, "", ""],
      ["wall time of the turn", `${screen.wallMs.toFixed(0)} ms`, "", ""],
      ["bytes written", screen.bytes.toLocaleString("en"), "", ""],
      ["bytes written with --plain", plain.bytes.toLocaleString("en"), "", ""],
      ["full clears", String(screen.clears), "0", met(screen.clears === 0)],
      ["CPU until the prompt is shown", `${screen.startCpuMs} ms`, "", ""],
      ["resident memory after the turns", `${screen.residentMb.toFixed(0)} MB`, "", ""],
      ...echoRows("key echo while streaming", echo.screen, goals.echoMs),
      ...echoRows("key echo of a bare program", echo.bare),
    ],
  );
}

interface Streamed {
  readonly startCpuMs: number;
  readonly cpuMs: number;
  readonly wallMs: number;
  readonly bytes: number;
  readonly clears: number;
  readonly residentMb: number;
}

async function streamed(args: readonly string[]): Promise<Streamed> {
  await using program = open(args);
  await program.shows(shown.prompt);
  await program.quiet();
  const startCpuMs = cpuMsOf(program.pid);
  let output = "";
  program.onOutput((text) => (output += text));
  const turns: { cpuMs: number; wallMs: number; bytes: number }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const before = { cpuMs: cpuMsOf(program.pid), bytes: output.length, at: performance.now() };
    await program.shows(await startTurn(program));
    const wallMs = performance.now() - before.at;
    await program.quiet();
    turns.push({ cpuMs: cpuMsOf(program.pid) - before.cpuMs, wallMs, bytes: output.length - before.bytes });
  }
  return {
    startCpuMs,
    cpuMs: median(turns.map(({ cpuMs }) => cpuMs)),
    wallMs: median(turns.map(({ wallMs }) => wallMs)),
    bytes: median(turns.map(({ bytes }) => bytes)),
    clears: output.match(fullClear)?.length ?? 0,
    residentMb: residentMbOf(program.pid),
  };
}

/** Starts a turn with a streamed answer; resolves with the text that its last line shows. */
async function startTurn(program: PtyProgram): Promise<string> {
  const end = newMark();
  await server.answer({ text: `${markdown}\n\n${end}`, deltas, delayMs: 5, perWrite: 10 });
  program.type(`hello${enter}`);
  return end;
}

/** How long keys take to be shown, and how long on this machine in a program that does nothing but that. */
async function echoWhileStreaming(): Promise<{ readonly screen: number[]; readonly bare: number[] }> {
  await using program = open([]);
  await using bare = PtyProgram.start([process.execPath, "-e", bareEcho], place());
  await bare.shows("ready");
  await cleared(bare);
  await program.shows(shown.prompt);
  const times: { screen: number[]; bare: number[] } = { screen: [], bare: [] };
  for (let round = 0; round < rounds * 2; round += 1) {
    const end = await startTurn(program);
    const shows = (text: string): boolean => program.emulator.screen().some((row) => row.includes(text));
    await program.shows(/step \d/);
    times.screen.push(...(await echoTimes(program, Number.POSITIVE_INFINITY, () => shows(end))));
    await program.shows(end);
    await program.quiet();
    times.bare.push(...(await echoTimes(bare, 26)));
  }
  return times;
}

async function measureLongTranscript(): Promise<void> {
  await using program = open([]);
  await program.shows(shown.prompt);
  await program.quiet();
  const points: { lines: number; residentMb: number; echo: number[] }[] = [];
  for (let lines = linesPerAnswer; lines <= longLines; lines += linesPerAnswer) {
    const end = newMark();
    await server.answer({ text: `${longAnswer(lines)}\n\n${end}`, deltas: 500 });
    program.type(`hello${enter}`);
    await program.shows(end);
    await program.quiet();
    if (lines !== linesPerAnswer * 2 && lines + linesPerAnswer <= longLines) continue;
    points.push({ lines, residentMb: residentMbOf(program.pid), echo: await echoTimes(program, 300) });
  }
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined) throw new Error("nothing was measured");
  const grown = last.residentMb - first.residentMb;
  printTable(
    "A long transcript",
    ["lines", "resident", "echo p50", "p99", "goal", ""],
    points.map(({ lines, residentMb, echo }) => [
      lines.toLocaleString("en"),
      `${residentMb.toFixed(0)} MB`,
      ...[0.5, 0.99].map((share) => `${at(echo, share).toFixed(1)} ms`),
      `<= ${goals.echoMs} ms`,
      met(at(echo, 0.99) <= goals.echoMs),
    ]),
  );
  console.log(`  grown by ${grown.toFixed(0)} MB; goal <= ${goals.grownMb} MB: ${met(grown <= goals.grownMb)}`);
}

/** Interrupts turns at random moments: before the answer, in it, and while a command runs. */
async function measureInterrupts(): Promise<void> {
  await using program = open(["--approval-policy", "never", "--sandbox", "danger-full-access"]);
  await program.shows(shown.prompt);
  await program.quiet();
  let output = "";
  program.onOutput((text) => (output += text));
  const times = new Map<string, number[]>([
    ["Ctrl-C", []],
    ["Esc", []],
  ]);
  for (let count = 0; count < interrupts; count += 1) {
    const isCommand = count % 4 === 3;
    const calls = [{ name: "shell", arguments: { command: ["sleep", "30"] } }];
    await server.answer(isCommand ? { text: "Wait.", calls } : { text: markdown, deltas, delayMs: 5, perWrite: 10 });
    output = "";
    program.type(`hello${enter}`);
    await setTimeout(Math.random() * 800);
    const key = count % 2 === 0 ? "Ctrl-C" : "Esc";
    const begin = performance.now();
    program.type(key === "Esc" ? escape : controlC);
    await program.until("reports the interruption", () => shown.interrupted.test(output));
    await echoed(program, "~");
    times.get(key)?.push(performance.now() - begin);
    program.type(clearLine);
    await program.quiet();
  }
  printTable(
    `${interrupts} interrupts at random moments, until a key is shown at the prompt again`,
    ["key", "p50", "p99", "max", "goal", ""],
    [...times].map(([key, values]) => [
      key,
      ...[0.5, 0.99, 1].map((share) => `${at(values, share).toFixed(0)} ms`),
      `p99 <= ${goals.interruptMs} ms`,
      met(at(values, 0.99) <= goals.interruptMs),
    ]),
  );
}

/** Types keys one by one, at most `count`, and returns how long each took to be shown. Leaves the prompt empty. */
async function echoTimes(program: PtyProgram, count: number, isOver = (): boolean => false): Promise<number[]> {
  const times: number[] = [];
  let typed = "";
  while (times.length < count && !isOver()) {
    const key = String.fromCodePoint(65 + typed.length);
    typed += key;
    const ms = await echoed(program, key, typed);
    // Less than three letters may also be elsewhere on the screen.
    if (typed.length >= 3) times.push(ms);
    await setTimeout(keyEveryMs);
    if (key !== "Z") continue;
    await cleared(program);
    typed = "";
  }
  await cleared(program);
  return times;
}

async function cleared(program: PtyProgram): Promise<void> {
  program.type(clearLine);
  await setTimeout(keyEveryMs);
}

/** Types a key and returns after how many milliseconds the program has written the text that it makes. */
async function echoed(program: PtyProgram, key: string, expected = key): Promise<number> {
  const begin = performance.now();
  let output = "";
  let end: number | undefined;
  const remove = program.onOutput((text) => {
    output += text;
    if (output.includes(expected)) end ??= performance.now();
  });
  program.type(key);
  await program.until(`shows ${expected}`, () => end !== undefined);
  remove();
  return (end ?? Number.NaN) - begin;
}

function echoRows(name: string, times: readonly number[], goal?: number): string[][] {
  const [p50, p99] = [at(times, 0.5), at(times, 0.99)];
  const judged = goal === undefined ? ["", ""] : [`<= ${goal} ms`, met(p99 <= goal)];
  return [
    [`${name}, p50 of ${times.length}`, `${p50.toFixed(1)} ms`, "", ""],
    [`${name}, p99`, `${p99.toFixed(1)} ms`, ...judged],
  ];
}

function open(args: readonly string[]): PtyProgram {
  const { cwd, env } = place();
  const size = { columns: 80, rows: 24, scrollback: 200 };
  return PtyProgram.start([process.execPath, cli, ...args], { ...size, cwd, env });
}

/** A new home and project. */
function place(): { readonly cwd: string; readonly env: Record<string, string | undefined> } {
  homes += 1;
  const cwd = join(directory.path, `project-${homes}`);
  const home = join(directory.path, `home-${homes}`);
  mkdirSync(cwd);
  mkdirSync(home, { mode: 0o700 });
  writeFileSync(
    join(home, "config.json"),
    JSON.stringify({ compaction: { enabled: false }, contextWindow: 100_000_000 }),
  );
  const keyed = { OPENAI_API_KEY: "test", OPENAI_BASE_URL: `${server.url}/v1` };
  const { PATH } = process.env;
  const terminal = { TERM: "xterm-256color", COLORTERM: "truecolor", LANG: "C.UTF-8" };
  return { cwd, env: { PATH, HOME: cwd, CODY_HOME: home, ...terminal, ...keyed } };
}

/** User and system time of all threads of a process. */
function cpuMsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / ticksPerSecond;
}

function residentMbOf(pid: number): number {
  const [, kb] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kb) / 1024;
}

/** The smallest value that is not below this share of all. */
function at(values: readonly number[], share: number): number {
  return values.toSorted((one, other) => one - other)[Math.ceil(values.length * share) - 1] ?? Number.NaN;
}

function newMark(): string {
  marks += 1;
  return `end of answer ${marks}.`;
}

/** Lines of code, because other lines would be joined to paragraphs. */
function longAnswer(first: number): string {
  const lines = Array.from({ length: linesPerAnswer }, (_line, index) => `line ${first + index}`);
  return `\`\`\`\n${lines.join("\n")}\n\`\`\``;
}

function section(index: number): string {
  return `## step ${index}: the tide table

the harbour has **two** high waters a day, about *twelve* hours apart; see [the manual](https://example.com/${index}) and \`tide.ts\`.

- read the last high water
- add half a lunar day
  - that is 745 minutes

\`\`\`ts
export function nextHighWater(last: number): number {
  const lunarDay = 24 * 60 + 50; // minutes
  return last + lunarDay / 2;
}
\`\`\`

| harbour | high water | height |
| --- | --- | --- |
| brest | 04:12 | 6.4 m |
| emden | 11:58 | 3.1 m |

> the moon passes twice.`;
}
