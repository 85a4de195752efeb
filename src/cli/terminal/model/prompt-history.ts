import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import { errorMessage } from "../../../base/error-message.js";
import { makeDirectory } from "../../../base/fs/make-directory.js";
import { writeAtomic } from "../../../base/fs/write-atomic.js";
import { isRecord } from "../../../base/is-record.js";
import { jsonOrUndefined } from "../../../base/parse.js";
import type { TextRedactor } from "../../../base/text/redaction.js";
import { withFileLock } from "../../../config/file-lock.js";
import { appendToIndex, readIndex } from "../../../rollouts/list/index-file.js";

export interface PromptHistoryOptions {
  /** Absent when nothing is saved: then the history has only the texts of this process. */
  readonly file?: string | undefined;
  readonly redactor: Pick<TextRedactor, "redact">;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Called at most once, with what to tell the user, when texts cannot be saved. */
  readonly onProblem?: (text: string) => void;
}

export interface FoundText {
  /** The distance from the newest text, which is 1. */
  readonly back: number;
  readonly text: string;
  /** Where the query begins in the text. */
  readonly place: number;
}

/** Older texts are forgotten. */
export const maxTexts = 1_000;
const maxChars = 20_000_000;
/** A longer text is kept in memory only. */
export const maxSavedChars = 10_000;
/** A file that has grown beyond this is shortened to its newest texts, of half the size. */
export const maxFileBytes = 2_000_000;

/**
 * The texts that a person has sent in all conversations. They are saved in a file to which several processes may
 * append; what the others append is read at the next start. Secrets are redacted in the file.
 */
export class PromptHistory {
  /** Oldest first. */
  #texts: string[] = [];
  readonly #options: PromptHistoryOptions;
  /** Reading and writing, one after the other. */
  #work: Promise<void>;
  #hasProblem = false;

  private constructor(options: PromptHistoryOptions) {
    this.#options = options;
    this.#work = options.file === undefined ? Promise.resolve() : this.#load(options.file);
  }

  /** The saved texts are read in the background. */
  static open(options: PromptHistoryOptions): PromptHistory {
    return new PromptHistory(options);
  }

  get size(): number {
    return this.#texts.length;
  }

  /** A text by its distance from the newest, which is 1. */
  at(back: number): string | undefined {
    return back < 1 ? undefined : this.#texts.at(-back);
  }

  /** Adds a text and saves it in the background. Empty texts and repetitions are left out. */
  add(text: string): void {
    if (text.trim() === "" || text === this.#texts.at(-1)) return;
    this.#texts.push(text);
    this.#dropOldest();
    const { file } = this.#options;
    if (file !== undefined && text.length <= maxSavedChars) this.#work = this.#work.then(() => this.#save(file, text));
  }

  /**
   * The nearest text, from a distance on, that contains the query. Capital letters matter only if the query has some.
   */
  search(query: string, from: number, direction: "older" | "newer"): FoundText | undefined {
    const isExact = query !== query.toLowerCase();
    const step = direction === "older" ? 1 : -1;
    for (let back = from; back >= 1 && back <= this.#texts.length; back += step) {
      const text = this.at(back) ?? "";
      const place = (isExact ? text : text.toLowerCase()).indexOf(query);
      if (place !== -1) return { back, text, place };
    }
    return undefined;
  }

  /** Resolves when the saved texts have been read and all new ones were saved. */
  async flush(): Promise<void> {
    await this.#work;
  }

  #dropOldest(): void {
    let chars = this.#texts.reduce((sum, text) => sum + text.length, 0);
    while (this.#texts.length > 1 && (this.#texts.length > maxTexts || chars > maxChars))
      chars -= this.#texts.shift()?.length ?? 0;
  }

  async #load(file: string): Promise<void> {
    const loaded = textsIn(await readIndex(file));
    if (loaded.at(-1) === this.#texts[0]) loaded.pop();
    this.#texts = [...loaded, ...this.#texts];
    this.#dropOldest();
  }

  async #save(file: string, text: string): Promise<void> {
    const { redactor, now, onProblem } = this.#options;
    try {
      const redacted = redactor.redact(text, () => undefined);
      await makeDirectory(dirname(file));
      // Without a lock, a line could be appended to the file that another process is just replacing.
      await withFileLock(`${file}.lock`, async () => {
        await appendToIndex(file, { timestamp: new Date(now()).toISOString(), text: redacted });
        await shorten(file);
      });
    } catch (error) {
      if (!this.#hasProblem)
        onProblem?.(
          `Cannot save the prompt history in ${file}: ${errorMessage(error)}. Sent texts are kept until cody ends.`,
        );
      this.#hasProblem = true;
    }
  }
}

async function shorten(file: string): Promise<void> {
  const { size } = await stat(file);
  if (size <= maxFileBytes) return;
  const kept: string[] = [];
  let bytes = 0;
  for (const line of (await readIndex(file)).toReversed()) {
    if (textIn(line) === undefined) continue;
    bytes += Buffer.byteLength(line) + 1;
    if (bytes > maxFileBytes / 2 || kept.length === maxTexts) break;
    kept.unshift(line);
  }
  await writeAtomic(file, kept.map((line) => `${line}\n`).join(""));
}

/** The newest texts, oldest first. Lines that a crash or another program has damaged are skipped. */
function textsIn(lines: readonly string[]): string[] {
  const texts: string[] = [];
  for (const line of lines.toReversed()) {
    if (texts.length === maxTexts) break;
    const text = textIn(line);
    if (text !== undefined && text !== texts.at(-1)) texts.push(text);
  }
  return texts.toReversed();
}

function textIn(line: string): string | undefined {
  const entry = jsonOrUndefined(line);
  const text = isRecord(entry) ? entry["text"] : undefined;
  return typeof text === "string" && text.trim() !== "" && text.length <= maxSavedChars * 2 ? text : undefined;
}
