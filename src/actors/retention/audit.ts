import { mkdir } from "node:fs/promises";
import { homePaths } from "../../config/paths.js";
import { appendToIndex } from "../../rollouts/list/index-file.js";

/** One line about something that was announced, moved, brought back or removed; never what was said. */
export type AuditLine = Readonly<Record<string, unknown>> & { readonly at: string; readonly action: string };

/** A log that cannot be written keeps nothing from being brought back. */
export async function appendAudit(home: string, line: AuditLine): Promise<void> {
  try {
    await mkdir(home, { recursive: true, mode: 0o700 });
    await appendToIndex(homePaths(home).retentionLog, line);
  } catch {
    // Said on the terminal anyway.
  }
}
