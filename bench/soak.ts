// Runs turns against a faulty server and checks that each ends once, is numbered and saved, in steady memory.
import { checks } from "./soak/checks.js";
import { type Counts, type SoakLoad, total } from "./soak/load.js";
import { earlySecondOf, judgedFromSeconds, type Memory, memoryBefore } from "./soak/memory.js";
import { playedIn, startServer } from "./soak/processes.js";
import { checkRollouts } from "./soak/check-rollouts.js";
import { median } from "./support/measure.js";
import { met, percent, printTable, whole } from "./support/table.js";
import { temporaryDirectory } from "./support/temporary-directory.js";

const seconds = Number(process.env["SOAK_SECONDS"] ?? 20);
const conversations = Number(process.env["SOAK_CONVERSATIONS"] ?? 100);
const turnsEach = 5;
const rssGoal = 1.2;
const mebibyte = 1024 * 1024;

await using directory = await temporaryDirectory();
await using server = await startServer();
const load: SoakLoad = { seconds, conversations, turnsEach, directory: directory.path, urls: server.urls };
const { report, endedByItself } = await playedIn(load);
const { requests, faults, refusals } = await server.report();
const { findings, leftOpen } = report;
await checkRollouts(directory.path, report.submitted, findings);

const turns = total(report.submitted);
const failed = total(Object.fromEntries(Object.entries(report.ends).filter(([end]) => end.startsWith("failed"))));
const earlySecond = earlySecondOf(seconds);
const early = memoryBefore(report.memory, earlySecond);
const late = memoryBefore(report.memory, seconds);
const interrupts = report.interruptMs.length === 0 ? [0] : report.interruptMs;

printTable(
  `${conversations} conversations for ${seconds} s, a new one after each ${turnsEach} turns`,
  ["what", ""],
  [
    ["conversations", whole(Object.keys(report.submitted).length)],
    ["turns", whole(turns)],
    ["requests", whole(requests)],
    ["deltas/s", whole((report.deltas * 1000) / report.wallMs)],
    ["CPU", percent(report.cpuMs / report.wallMs)],
    ["ms until an interrupted turn ended, median", whole(median(interrupts))],
    ["ms until an interrupted turn ended, most", whole(Math.max(...interrupts))],
    [`MB RSS, and alive, before second ${earlySecond}`, megabytes(early)],
    ["MB RSS, and alive, at the end", megabytes(late)],
  ],
);
printCounts(`Faults sent, ${percent(total(faults) / requests)} of all requests`, faults);
printCounts("Requests sent again, by what was wrong", report.retries);
printCounts("How turns ended", report.ends);
printCounts("What was found", findings.details);
printCounts("Requests the server would not take", refusals);
printCounts("Files left open", Object.fromEntries((leftOpen ?? []).map((path) => [path, 1])));

const ratio = late.rss / early.rss;
const isSteady = seconds < judgedFromSeconds ? undefined : ratio <= rssGoal;
const steadyGoal = `<= ${rssGoal}x, from ${judgedFromSeconds} s on`;
const goals: readonly (readonly [what: string, value: string, goal: string, isMet: boolean | undefined])[] = [
  ...checks.map((check) => none(check, findings.counts[check] ?? 0)),
  none("requests refused without a fault", total(refusals)),
  leftOpen === undefined ? ["files left open", "unknown", "0", undefined] : none("files left open", leftOpen.length),
  ["turns that failed", whole(failed), `<= ${total(faults)} faults`, failed <= total(faults)],
  ["the process ends by itself", endedByItself ? "yes" : "no", "yes", endedByItself],
  [`RSS at the end to second ${earlySecond}`, `${ratio.toFixed(2)}x`, steadyGoal, isSteady],
];
printTable(
  "Goals",
  ["what", "value", "goal", ""],
  goals.map(([what, value, goal, isMet]) => [what, value, goal, isMet === undefined ? "not judged" : met(isMet)]),
);
if (goals.some(([, , , isMet]) => isMet === false)) process.exitCode = 1;

function none(what: string, count: number): readonly [string, string, string, boolean] {
  return [what, whole(count), "0", count === 0];
}

function megabytes({ rss, live }: Memory): string {
  return `${whole(rss / mebibyte)}, ${whole(live / mebibyte)}`;
}

function printCounts(title: string, counts: Readonly<Counts>): void {
  const rows = Object.entries(counts).toSorted(([, a], [, b]) => b - a);
  if (rows.length === 0) return;
  printTable(
    title,
    ["what", "count"],
    rows.map(([what, count]) => [what, whole(count)]),
  );
}
