import { mkdir, readFile, readdir, stat, utimes, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";

export const conversationId = "conv_01a1e278-c9af-73b9-84ae-93f3a1bd5b54";

/** Writes a conversation with every kind of companion file and returns the path of its rollout. */
export async function putConversation(directory: string, id = conversationId): Promise<string> {
  const path = join(directory, `${id}.jsonl`);
  const blob = join(`${path}.blobs`, "a".repeat(64));
  await mkdir(dirname(blob), { recursive: true });
  await writeFile(path, `${JSON.stringify({ type: "session_meta", payload: { id, cwd: "/" } })}\nline\n`);
  await writeFile(`${path}.torn-1`, '{"half');
  await writeFile(`${path}.backup-2026-11-16T00-00-00.000Z`, "older\n");
  await writeFile(blob, Buffer.from([0, 255, 10, 13]));
  const old = new Date("2026-01-02T03:04:05.678Z");
  for (const file of [path, `${path}.torn-1`, `${path}.backup-2026-11-16T00-00-00.000Z`, blob])
    await utimes(file, old, old);
  return path;
}

/** The bytes and times of every file below a folder by path, without locks and caches. */
export async function everything(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const found = files
    .filter((path) => !path.includes(".lock") && !path.endsWith(".heads.json"))
    .toSorted()
    .map(async (path) => {
      const [bytes, { mtimeMs }] = [await readFile(path), await stat(path)];
      return [relative(folder, path), `${bytes.toString("hex")} ${Math.round(mtimeMs)}`] as const;
    });
  return Object.fromEntries(await Promise.all(found));
}
