import { readFile } from "node:fs/promises";

export interface JsonLine {
  readonly timestamp: string;
  readonly type: string;
  readonly metadata?: unknown;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** The lines of a rollout as plain JSON; throws when a line is not JSON. */
export async function rolloutLines(path: string | null): Promise<JsonLine[]> {
  if (path === null) throw new Error("this conversation has no rollout");
  const text = await readFile(path, "utf8");
  if (!text.endsWith("\n")) throw new Error("the rollout does not end with a newline");
  return text
    .slice(0, -1)
    .split("\n")
    .map((line) => JSON.parse(line) as JsonLine);
}
