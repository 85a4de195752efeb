import { setImmediate } from "node:timers/promises";
import type { TextRedactor } from "../../base/text/redaction.js";
import { blobBytes, blobFolder, blobHash, hasBlob, writeBlob } from "../../rollouts/file/blobs.js";
import type { RepairFiles } from "../../rollouts/file/replacement.js";
import { makeDurableDirectory } from "./durable-directory.js";
import { saveFailureReason } from "./save-failure.js";

export type BlobOutcome =
  | { readonly status: "kept"; readonly sha256: string; readonly bytes: number }
  | { readonly status: "not_kept"; readonly reason: string };

interface BlobStoreOptions {
  readonly files: RepairFiles;
  readonly rolloutPath: string;
  readonly redactor: TextRedactor;
  /** Maximum total bytes kept for the conversation. */
  readonly maxBytes: number;
}

/** Number of characters redacted before the event loop gets a turn. */
const pieceChars = 128 * 1024;
const keyBegin = "-----BEGIN ";
const keyEnd = "-----END ";

/** Stores, next to a rollout, outputs that the model did not see in full, redacted and each only once. */
export class BlobStore {
  readonly #options: BlobStoreOptions;
  readonly #folder: string;
  #keptBytes: number | undefined;
  #before: Promise<unknown> = Promise.resolve();

  constructor(options: BlobStoreOptions) {
    this.#options = options;
    this.#folder = blobFolder(options.rolloutPath);
  }

  /**
   * Never rejects: an output that cannot be kept must not end a turn. Calls run one at a time, so that the bound holds.
   */
  keep(text: string): Promise<BlobOutcome> {
    const storing = this.#before
      .then(() => this.#store(text))
      .catch((error: unknown): BlobOutcome => ({
        status: "not_kept",
        reason: saveFailureReason(error),
      }));
    this.#before = storing;
    return storing;
  }

  async #store(text: string): Promise<BlobOutcome> {
    const { files, redactor, maxBytes } = this.#options;
    const bytes = Buffer.from(await redacted(text, redactor));
    const sha256 = blobHash(bytes);
    this.#keptBytes ??= await blobBytes(files, this.#folder);
    if (await hasBlob(files, this.#folder, sha256)) return { status: "kept", sha256, bytes: bytes.length };
    if (this.#keptBytes + bytes.length > maxBytes) {
      return {
        status: "not_kept",
        reason: `the stored outputs would be larger than ${maxBytes / 1e6} MB (persistence.maxBlobMegabytes)`,
      };
    }
    await makeDurableDirectory(files, this.#folder);
    await writeBlob(files, this.#folder, sha256, bytes);
    this.#keptBytes += bytes.length;
    return { status: "kept", sha256, bytes: bytes.length };
  }
}

/** Redacts a long text in pieces, so that the event loop is not blocked. */
async function redacted(text: string, redactor: TextRedactor): Promise<string> {
  const pieces: string[] = [];
  for (let from = 0; from < text.length;) {
    const to = pieceEnd(text, from);
    pieces.push(redactor.redact(text.slice(from, to), () => undefined));
    from = to;
    await setImmediate();
  }
  return pieces.join("");
}

/** A piece ends after a line break, and not inside a multi-line key. */
function pieceEnd(text: string, from: number): number {
  const lineEnd = endOfLine(text, from + pieceChars);
  const begin = text.lastIndexOf(keyBegin, lineEnd);
  if (begin < from || text.slice(begin, lineEnd).includes(keyEnd)) return lineEnd;
  const end = text.indexOf(keyEnd, lineEnd);
  return end === -1 || end > lineEnd + pieceChars ? lineEnd : endOfLine(text, end);
}

function endOfLine(text: string, at: number): number {
  const end = at >= text.length ? -1 : text.indexOf("\n", at);
  return end === -1 ? text.length : end + 1;
}
