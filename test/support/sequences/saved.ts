import { readFile } from "node:fs/promises";

interface Line {
  readonly type: string;
  readonly payload: { readonly type?: string; readonly turn_id?: string };
}

/** The content of a rollout file. */
export interface SavedFile {
  readonly bytes: number;
  readonly compactions: number;
  /** Started turns by id, and how often each has ended. */
  readonly ends: ReadonlyMap<string, number>;
}

export async function savedFile(path: string): Promise<SavedFile> {
  const bytes = await readFile(path);
  const text = bytes.toString();
  const lines = text
    .slice(0, text.lastIndexOf("\n") + 1)
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line);
  const ends = new Map<string, number>();
  for (const { payload } of lines) {
    const { type, turn_id: id = "" } = payload;
    if (type === "task_started") ends.set(id, ends.get(id) ?? 0);
    if (type === "task_complete" || type === "turn_aborted") ends.set(id, (ends.get(id) ?? 0) + 1);
  }
  return { bytes: bytes.length, compactions: lines.filter(({ type }) => type === "compacted").length, ends };
}
