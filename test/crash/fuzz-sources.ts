import { copyFile, readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Is in the texts of every rollout, and must never be in an error message about one. */
export const secret = "sk-secret-7f3a";

const fixtures = fileURLToPath(new URL("../fixtures/", import.meta.url));
/** These rollouts continue another file, which a reader looks for in the same folder. */
const withParents = ["codex/v0.166.0/fork", "codex/v0.166.0/revert"];
const maxTextChars = 200;

/** The lines of rollouts of every recorded version and format. */
export async function sourceRollouts(): Promise<string[][]> {
  const names = await readdir(fixtures, { recursive: true });
  const paths = names.filter((name) => name.endsWith(".jsonl")).toSorted();
  const texts = await Promise.all(paths.map((path) => readFile(join(fixtures, path), "utf8")));
  return texts.map((text) => text.trimEnd().split("\n").map(withSecret));
}

/** Copies the files that other rollouts continue into the folder. */
export async function copyParentRollouts(folder: string): Promise<void> {
  for (const from of withParents) {
    const names = await readdir(join(fixtures, from));
    const rollouts = names.filter((name) => name.endsWith(".jsonl"));
    await Promise.all(rollouts.map((name) => copyFile(join(fixtures, from, name), join(folder, basename(name)))));
  }
}

/** A value with a space in it is free text that nothing depends on. Long texts would only take time. */
function withSecret(line: string): string {
  return JSON.stringify(JSON.parse(line), (_key, value: unknown) =>
    typeof value === "string" && value.includes(" ") ? `${value.slice(0, maxTextChars)} ${secret}` : value,
  );
}
