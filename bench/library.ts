// Measures listing and searching ten thousand conversations, with and without cached heads and index, compared with
// `cody --version`.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { homePaths } from "../src/config/paths.js";
import { Commands } from "./library/run-command.js";
import { median } from "./support/measure.js";
import { met, printTable } from "./support/table.js";
import { temporaryDirectory } from "./support/temporary-directory.js";
import { writeConversations } from "./support/write-conversations.js";

const rounds = 7;
const conversations = 10_000;
/** The cache of a folder that has just changed is not used, so wait this long. */
const settledMs = 2_500;
const rare = ["search", `${conversations - 1}+2`];
const common = ["search", "what"];

interface Subject {
  readonly name: string;
  readonly args: readonly string[];
  readonly expected: string;
  /** The caches to delete before each run. */
  readonly without?: readonly ("heads" | "index")[];
  readonly goal?: { readonly text: string; readonly isMet: (measured: Measured) => boolean };
}

interface Measured {
  readonly ms: number;
  readonly ratio: number;
  readonly cpuMs: number;
  readonly peakMb: number;
}

await using directory = await temporaryDirectory();
const home = join(directory.path, "home");
await writeConversations(home, conversations);
await setTimeout(settledMs);
const commands = new Commands(directory.path, home);

const all = `Total: ${conversations} conversation(s)`;
const page = `${all}, showing 50`;
const cold = { text: "< 1500 ms CPU, < 150 MB", isMet: ({ cpuMs, peakMb }: Measured) => cpuMs < 1500 && peakMb < 150 };
const small = { text: "< 150 MB", isMet: ({ peakMb }: Measured) => peakMb < 150 };
const quick = { text: "<= 1.5 x", isMet: ({ ratio }: Measured) => ratio <= 1.5 };

const version: Subject = { name: "cody --version", args: ["--version"], expected: "." };
await compare("Listing", [
  { name: "all, cold", args: ["list"], expected: all, without: ["heads"], goal: cold },
  { name: "all, warm", args: ["list"], expected: all, goal: small },
  { name: "page of 50, cold", args: ["list", "--limit", "50"], expected: page, without: ["heads"], goal: small },
  { name: "page of 50, warm", args: ["list", "--limit", "50"], expected: page, goal: quick },
]);
await compare("Searching the files", [
  { name: "a word of one", args: rare, expected: "Total: 1 conversation(s)", without: ["index"], goal: small },
  { name: "a word of all", args: common, expected: "there are more", without: ["index"], goal: small },
]);
console.log(`\nBuilding the index: ${(commands.time(["index"], "up to date") / 1000).toFixed(1)} s`);
await compare("Searching the index", [
  { name: "a word of one", args: rare, expected: "Total: 1 conversation(s)", goal: small },
  { name: "a word of all", args: common, expected: "there are more", goal: small },
]);

/** Interleaves the subjects, so that a busy moment of the machine affects all of them. */
async function compare(title: string, subjects: readonly Subject[]): Promise<void> {
  const measured = [version, ...subjects].map((subject) => ({
    subject,
    ms: [] as number[],
    cpu: [] as number[],
    peak: 0,
  }));
  // The first round warms the caches and is not counted.
  for (let round = 0; round <= rounds; round += 1) {
    for (const each of measured) {
      const { args, expected } = each.subject;
      deleteCaches(each.subject);
      const ms = commands.time(args, expected);
      deleteCaches(each.subject);
      const { cpuMs, peakMb } = commands.usage(args, expected);
      if (round === 0) continue;
      each.ms.push(ms);
      each.cpu.push(cpuMs);
      each.peak = Math.max(each.peak, peakMb);
    }
  }
  const base = median(measured[0]?.ms ?? []);
  printTable(
    `${title} (${conversations.toLocaleString("en")} conversations, median of ${rounds})`,
    ["command", "ms", "x --version", "CPU ms", "peak MB", "goal", ""],
    measured.map(({ subject: { name, goal }, ms, cpu, peak }) => {
      const result = { ms: median(ms), ratio: median(ms) / base, cpuMs: median(cpu), peakMb: peak };
      const numbers = [result.ms.toFixed(0), result.ratio.toFixed(2), result.cpuMs.toFixed(0), peak.toFixed(0)];
      return [name, ...numbers, ...(goal === undefined ? ["", ""] : [goal.text, met(goal.isMet(result))])];
    }),
  );
}

function deleteCaches({ without = [] }: Subject): void {
  for (const name of without) rmSync(homePaths(home)[name], { force: true });
}
