import * as fs from "node:fs";
import { shownId } from "../../messages/conversation-id.js";
import { isRecord } from "../../base/is-record.js";
import { openFlags } from "../file/open-flags.js";

/** Some hundred thousand lines; of a longer file the newest part counts. */
const maxIndexBytes = 16 * 1024 * 1024;
const appendFlags =
  fs.constants.O_RDWR |
  fs.constants.O_APPEND |
  fs.constants.O_CREAT |
  fs.constants.O_NOFOLLOW |
  fs.constants.O_NONBLOCK;
const newline = 0x0a;

/** The lines of an index beside the conversations; none when there is no index, or it cannot be read. */
export async function readIndex(path: string): Promise<string[]> {
  try {
    const file = await fs.promises.open(path, openFlags);
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

/** The same for a command that does nothing else. */
export function readIndexSync(path: string): string[] {
  try {
    const fd = fs.openSync(path, openFlags);
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

/** Puts a line at the end. An index is a copy of what stands in rollouts, so nobody waits for the disk. */
export async function appendToIndex(path: string, entry: Readonly<Record<string, unknown>>): Promise<void> {
  const file = await fs.promises.open(path, appendFlags, 0o600);
  try {
    const { size } = await file.stat();
    // A new one: the umask may have taken bits away.
    if (size === 0) await file.chmod(0o600);
    const last = Buffer.alloc(1);
    if (size > 0) await file.read(last, 0, 1, size - 1);
    // Who died in the middle of a line must not take the next one with it.
    await file.appendFile(`${size > 0 && last[0] !== newline ? "\n" : ""}${JSON.stringify(entry)}\n`);
  } finally {
    await file.close();
  }
}

/** Takes the lines of these conversations out of an index. */
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
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) && typeof value["id"] === "string" ? shownId(value["id"]) : "";
  } catch {
    return "";
  }
}

function newestPart(stats: fs.Stats): { from: number; buffer: Buffer } {
  const length = stats.isFile() ? Math.min(stats.size, maxIndexBytes) : 0;
  return { from: stats.size - length, buffer: Buffer.allocUnsafe(length) };
}
