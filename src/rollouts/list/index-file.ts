import * as fs from "node:fs";
import { isConversationId, shownId } from "../../base/text/conversation-id.js";
import { isRecord } from "../../base/is-record.js";
import { jsonOrUndefined } from "../../base/parse.js";
import { appendFlags, readFlags } from "../../base/fs/open-regular.js";

/** Enough for some hundred thousand lines; only the newest part of a longer file is read. */
const maxIndexBytes = 16 * 1024 * 1024;
const newline = 0x0a;

/** Reads the lines of an index beside the conversations; empty when it is missing or unreadable. */
export async function readIndex(path: string): Promise<string[]> {
  try {
    const file = await fs.promises.open(path, readFlags);
    try {
      const { from, buffer } = newestPart(await file.stat());
      const { bytesRead } = await file.read(buffer, 0, buffer.length, from);
      return buffer.toString("utf8", 0, bytesRead).split("\n");
    } finally {
      await file.close();
    }
  } catch {
    return [];
  }
}

/** Synchronous variant for short commands. */
export function readIndexSync(path: string): string[] {
  try {
    const fd = fs.openSync(path, readFlags);
    try {
      const { from, buffer } = newestPart(fs.fstatSync(fd));
      return buffer.toString("utf8", 0, fs.readSync(fd, buffer, 0, buffer.length, from)).split("\n");
    } finally {
      fs.closeSync(fd);
    }
  } catch {
    return [];
  }
}

/**
 * Parses the lines of an index by conversation id. `entryOf` gets the fields of a line, its id, and its time in
 * milliseconds since 1970, 0 if unknown. The last entry of an id counts; invalid lines are skipped.
 */
export function entriesIn<T>(
  lines: readonly string[],
  entryOf: (
    fields: Readonly<Record<string, unknown>>,
    line: { readonly id: string; readonly updatedAt: number },
  ) => T | undefined,
): ReadonlyMap<string, T> {
  const entries = new Map<string, T>();
  for (const line of lines) {
    const fields = jsonOrUndefined(line);
    if (!isRecord(fields)) continue;
    const { id: written, updated_at: date } = fields;
    if (typeof written !== "string" || !isConversationId(written)) continue;
    const [id, time] = [shownId(written), Date.parse(typeof date === "string" ? date : "")];
    const entry = entryOf(fields, { id, updatedAt: Number.isNaN(time) ? 0 : time });
    if (entry !== undefined) entries.set(id, entry);
  }
  return entries;
}

/** Appends a line. It is not synced, because an index can be rebuilt from the rollouts. */
export async function appendToIndex(path: string, entry: Readonly<Record<string, unknown>>): Promise<void> {
  const file = await fs.promises.open(path, appendFlags, 0o600);
  try {
    const { size } = await file.stat();
    // For a new file, because the umask may have removed bits.
    if (size === 0) await file.chmod(0o600);
    const last = Buffer.alloc(1);
    if (size > 0) await file.read(last, 0, 1, size - 1);
    // A line torn by a crash must not damage the next one.
    await file.appendFile(`${size > 0 && last[0] !== newline ? "\n" : ""}${JSON.stringify(entry)}\n`);
  } finally {
    await file.close();
  }
}

/** Removes the lines of these conversations from an index. */
export async function forgetInIndex(path: string, ids: ReadonlySet<string>): Promise<void> {
  const lines = await readIndex(path);
  const kept = lines.filter((line) => !ids.has(idOf(line)));
  if (kept.length === lines.length) return;
  const temporary = `${path}.${process.pid}.tmp`;
  await fs.promises.writeFile(temporary, kept.join("\n"), { mode: 0o600, flag: "wx" });
  await fs.promises.chmod(temporary, 0o600);
  await fs.promises.rename(temporary, path);
}

function idOf(line: string): string {
  const value = jsonOrUndefined(line);
  return isRecord(value) && typeof value["id"] === "string" ? shownId(value["id"]) : "";
}

function newestPart(stats: fs.Stats): { from: number; buffer: Buffer } {
  const length = stats.isFile() ? Math.min(stats.size, maxIndexBytes) : 0;
  return { from: stats.size - length, buffer: Buffer.allocUnsafe(length) };
}
