import { mkdir } from "node:fs/promises";
import { homePaths } from "../../config/paths.js";
import { appendToIndex } from "../../rollouts/list/index-file.js";

/** One line about something that was announced, moved, restored or removed; never contains conversation text. */
export type AuditLine = Readonly<Record<string, unknown>> & { readonly at: string; readonly action: string };

/** Errors are ignored: a log that cannot be written must not prevent a restore. */
export async function appendAudit(home: string, line: AuditLine): Promise<void> {
  try {
    await mkdir(home, { recursive: true, mode: 0o700 });
    await appendToIndex(homePaths(home).retentionLog, line);
  } catch {
    // The terminal reports the action anyway.
  }
}
