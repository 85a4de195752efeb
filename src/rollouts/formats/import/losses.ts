/**
 * Kinds of source content that an imported conversation lacks. Each is counted in its own unit: messages, parts of
 * messages, entries or lines.
 */
export type LossKind =
  | "abandoned_entries"
  | "attachments"
  | "documents"
  | "duplicates"
  | "error_marks"
  | "errors"
  | "excluded"
  | "extension_data"
  | "file_snapshots"
  | "images"
  | "labels"
  | "local_commands"
  | "provider"
  | "server_tools"
  | "settings"
  | "sidechain_entries"
  | "signatures"
  | "stray_outputs"
  | "subagent_files"
  | "synthetic_messages"
  | "system_messages"
  | "system_notes"
  | "thoughts"
  | "too_long"
  | "tool_details"
  | "unanswered_calls"
  | "unfinished"
  | "unknown_lines"
  | "unknown_parts"
  | "usage";

/** An unreadable line; `detail` never quotes the file. */
export interface DamagedLine {
  readonly line: number;
  readonly detail: string;
}

/** The content that could not be imported. */
export interface LossReport {
  /** Number of occurrences by kind; a missing kind did not occur. */
  readonly counts: Readonly<Partial<Record<LossKind, number>>>;
  /** The first damaged lines; `damagedCount` counts all of them. */
  readonly damaged: readonly DamagedLine[];
  readonly damagedCount: number;
}

/** Maximum number of damaged lines that are recorded; further ones are only counted. */
const maxDamagedKept = 100;

/** Counts losses while a source is read. */
export class Losses {
  readonly #counts = new Map<LossKind, number>();
  readonly #damaged: DamagedLine[] = [];
  #damagedCount = 0;

  count(kind: LossKind, times = 1): void {
    if (times > 0) this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + times);
  }

  damagedLine(line: number, detail: string): void {
    this.#damagedCount += 1;
    if (this.#damaged.length < maxDamagedKept) this.#damaged.push({ line, detail });
  }

  report(): LossReport {
    const counts = Object.fromEntries([...this.#counts].toSorted(([a], [b]) => (a < b ? -1 : 1)));
    return { counts, damaged: [...this.#damaged], damagedCount: this.#damagedCount };
  }
}
