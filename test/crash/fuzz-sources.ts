import { copyFile, readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Stands in the texts of every rollout, and must never stand in what is said about one. */
export const secret = "sk-secret-7f3a";

const fixtures = fileURLToPath(new URL("../fixtures/", import.meta.url));
/** These begin in one another; whoever reads one looks for the others beside it. */
const withBeginnings = ["codex/v0.166.0/fork", "codex/v0.166.0/revert"];
const maxTextChars = 200;

/** Rollouts of every recorded version and in every form, as their lines. */
export async function sourceRollouts(): Promise<string[][]> {
  const names = await readdir(fixtures, { recursive: true });
  const paths = names.filter((name) => name.endsWith(".jsonl")).toSorted();
  const texts = await Promise.all(paths.map((path) => readFile(join(fixtures, path), "utf8")));
  return texts.map((text) => text.trimEnd().split("\n").map(withSecret));
}

/** Lays what others begin in beside them. */
export async function copyBeginnings(folder: string): Promise<void> {
  for (const from of withBeginnings) {
    const names = await readdir(join(fixtures, from));
    const rollouts = names.filter((name) => name.endsWith(".jsonl"));
    await Promise.all(rollouts.map((name) => copyFile(join(fixtures, from, name), join(folder, basename(name)))));
  }
}

/** What has a blank in it is a text, and not a name that something depends on. Long ones would only take time. */
function withSecret(line: string): string {
  return JSON.stringify(JSON.parse(line), (_key, value: unknown) =>
    typeof value === "string" && value.includes(" ") ? `${value.slice(0, maxTextChars)} ${secret}` : value,
  );
}
