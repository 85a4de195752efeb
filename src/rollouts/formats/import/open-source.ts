import { ImportError } from "../../../messages/errors.js";
import { readClaudeSource } from "../claude/read.js";
import { detectFormat } from "./detect-format.js";
import { readEntrySource } from "../diligent/read.js";
import type { ImportFormat } from "./import-format.js";
import { readJsonSource } from "../json/read.js";
import { Losses } from "./losses.js";
import { readMessageSource } from "../envoy/read.js";
import { readRolloutSource } from "../codex/read.js";
import { sourceFile } from "./source-file.js";
import { systemReason } from "../../../base/system-error.js";
import type { ReadSource, Source } from "./source.js";

const readers = {
  codex: readRolloutSource,
  turns: readRolloutSource,
  envoy: readMessageSource,
  diligent: readEntrySource,
  json: readJsonSource,
  "claude-code": readClaudeSource,
  pi: readEntrySource,
} satisfies Record<ImportFormat, ReadSource>;

/** Looks into a file; rejects with an `ImportError` when there is no conversation in it that could be read. */
export async function openSource(path: string, from?: ImportFormat): Promise<Source> {
  const file = await sourceFile(path);
  try {
    const format = from ?? (await detectFormat(file));
    const losses = new Losses();
    return { file, format, losses, ...(await readers[format](file, losses)) };
  } catch (error) {
    throw isOfDisk(error) ? new ImportError(path, `it cannot be read: ${systemReason(error)}`) : error;
  }
}

function isOfDisk(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "syscall" in error && "code" in error;
}
