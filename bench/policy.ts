// Measures what the decision about a command costs.
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { judgeCall, type PolicyContext } from "../src/tools/policy/approval-policy.js";
import { compileRules } from "../src/tools/policy/rules.js";
import { interleaved, perSecond } from "./support/measure.js";
import { printTable, whole } from "./support/table.js";

const rounds = 7;
const times = 200;
const folder = await mkdtemp(join(await realpath(tmpdir()), "cody-bench-"));
const allow = Array.from({ length: 100 }, (_, index) => `program${index} *`);
const places = { source: "permissions.json", root: folder, userHome: folder };

function closed(): Promise<readonly string[]> {
  return Promise.resolve([]);
}

function context(lists: Parameters<typeof compileRules>[0], isConfined: boolean): PolicyContext {
  return {
    policy: "on-request",
    sandbox: "workspace-write",
    isConfined,
    rules: { user: compileRules(lists, places), project: [] },
    commands: { path: process.env["PATH"] ?? "", unsafe: [folder], workspace: [folder] },
    reads: { workspace: [folder], closed, isOpen: false },
    writes: { writable: [folder], closed },
    isApproved: () => Promise.resolve(false),
  };
}

async function decide(line: string, given: PolicyContext): Promise<void> {
  const access = { type: "command", isEscalated: false } as const;
  for (let left = times; left > 0; left -= 1) {
    await judgeCall(
      { tool: "shell", readOnly: false, command: { argv: ["sh", "-c", line], cwd: folder, access } },
      given,
    );
  }
}

const inSandbox = context({}, true);
const withRules = context({ allow: [...allow, "ls *", "cat *"], deny: ["git push *"] }, false);
const subjects = [
  { name: "in a sandbox, no rules", line: "npm test > log.txt 2>&1", given: inSandbox },
  { name: "103 rules, one command", line: "ls -la src", given: withRules },
  { name: "103 rules, five commands", line: "ls && cat a | cat b || ls -l ; cat 'c d'", given: withRules },
  { name: "103 rules, not plain", line: 'for f in src/*; do echo "$(cat "$f")"; done', given: withRules },
];

const measured = await interleaved(
  rounds,
  subjects.map(({ name, line, given }) => ({ name, measure: () => perSecond(times, () => decide(line, given)) })),
);
await rm(folder, { recursive: true });

printTable(
  `Decisions about a command in a second (median of ${rounds})`,
  ["what", "per second", "µs each"],
  [...measured].map(([name, value]) => [name, whole(value), (1_000_000 / value).toFixed(0)]),
);
