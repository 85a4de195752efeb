// Measures the cost of redacting secrets from rollouts, and the rate of false positives.
import { redactionRules } from "../src/config/secrets/redact.js";
import { createTextRedactor } from "../src/config/secrets/text-redactor.js";
import type { OwnLine } from "../src/messages/rollout-line.js";
import type { SecretKind } from "../src/base/text/redaction.js";
import { encodeLine, lineEncoder } from "../src/rollouts/file/encode.js";
import { corpusFiles } from "./redaction/corpus.js";
import { line } from "./support/sample-line.js";
import { interleaved, perSecond } from "./support/measure.js";
import { percent, printTable, whole } from "./support/table.js";

const rounds = 7;
const lines = 20_000;
const longLines = 300;
const shownExamples = 12;
const env = {
  OPENAI_API_KEY: "sk-proj-0a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d",
  ANTHROPIC_API_KEY: "sk-ant-api03-1f2e3d4c5b6a7980",
  GITHUB_TOKEN: "ghp_0123456789abcdefghijABCDEFGHIJ012345",
};
const rules = redactionRules({}, env);
const redactor = createTextRedactor(rules);
const encode = lineEncoder(redactor);
const withSecret = assistantLine(`the key is ${env.OPENAI_API_KEY}, keep it`);
const long = assistantLine("const value = compute(input, options); // a line of code\n".repeat(1_000));

const measured = await interleaved(rounds, [
  { name: "500 bytes, encoded only", measure: () => perSecond(lines, () => times(lines, () => encodeLine(line))) },
  { name: "500 bytes, no secret", measure: () => perSecond(lines, () => times(lines, () => encode(line))) },
  { name: "one secret in it", measure: () => perSecond(lines, () => times(lines, () => encode(withSecret))) },
  { name: "56 kB, encoded only", measure: () => perSecond(longLines, () => times(longLines, () => encodeLine(long))) },
  { name: "56 kB, no secret", measure: () => perSecond(longLines, () => times(longLines, () => encode(long))) },
]);

printTable(
  `Lines encoded in a second, with ${rules.secrets.length} keys known (median of ${rounds})`,
  ["what", "lines/s", "µs each", "of encoding alone"],
  [
    row("500 bytes, encoded only", "500 bytes, encoded only"),
    row("500 bytes, no secret", "500 bytes, encoded only"),
    row("one secret in it", "500 bytes, encoded only"),
    row("56 kB, encoded only", "56 kB, encoded only"),
    row("56 kB, no secret", "56 kB, encoded only"),
  ],
);

for (const shapes of [false, true]) {
  const corpusRedactor = createTextRedactor({ ...rules, shapes });
  const kinds = new Map<SecretKind, number>();
  const examples = new Map<string, number>();
  let [bytes, files, hits] = [0, 0, 0];
  for await (const text of corpusFiles(process.argv.slice(2))) {
    bytes += Buffer.byteLength(text);
    files += 1;
    let found = false;
    corpusRedactor.redact(text, (kind, value) => {
      found = true;
      kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
      examples.set(value.slice(0, 40), (examples.get(value.slice(0, 40)) ?? 0) + 1);
    });
    if (found) hits += 1;
  }
  const megabytes = bytes / 1e6;
  const count = (kind: SecretKind): string =>
    `${kinds.get(kind) ?? 0} (${((kinds.get(kind) ?? 0) / megabytes).toFixed(2)}/MB)`;
  printTable(
    `${whole(files)} files of code, ${megabytes.toFixed(1)} MB, shapes ${shapes ? "on" : "off"}`,
    ["files with a hit", "by name", "by shape"],
    [[`${hits} (${percent(hits / files)})`, count("named"), count("shaped")]],
  );
  const frequent = [...examples].toSorted((a, b) => b[1] - a[1]).slice(0, shownExamples);
  console.log(`  mostly: ${frequent.map(([value, seen]) => `${seen} × ${JSON.stringify(value)}`).join(", ")}`);
}

function assistantLine(text: string): OwnLine {
  const timestamp = "2026-11-16T00:00:00.000Z";
  const content = [{ type: "output_text" as const, text }];
  return { timestamp, type: "response_item", payload: { type: "message", role: "assistant", content } };
}

async function times(count: number, work: () => unknown): Promise<void> {
  for (let index = 0; index < count; index += 1) work();
}

function row(name: string, base: string): string[] {
  const rate = measured.get(name) ?? Number.NaN;
  const bare = measured.get(base) ?? Number.NaN;
  return [name, whole(rate), (1e6 / rate).toFixed(2), percent(bare / rate)];
}
