import { isDirectory } from "../../../base/fs/path-checks.js";
import { ConversationError, ImportError } from "../../../base/errors.js";
import { findSources } from "../../../rollouts/formats/import/find-sources.js";
import type { ImportOutcome } from "./import-conversation.js";

/** Imports a file, or every conversation in a directory tree, one after another. */
export async function* importEach(
  path: string,
  importOne: (file: string) => Promise<ImportOutcome>,
): AsyncGenerator<ImportOutcome> {
  if (!(await isDirectory(path))) {
    yield await importOne(path);
    return;
  }
  for await (const { path: file, passedOver } of findSources(path)) {
    yield passedOver === undefined
      ? await importOne(file).catch((error: unknown) => notImported(file, error))
      : { status: "skipped", path: file, reason: passedOver };
  }
}

/** A file that cannot be imported does not stop the others; a disk problem does. */
function notImported(path: string, error: unknown): ImportOutcome {
  if (error instanceof ImportError) return { status: "skipped", path, reason: error.reason };
  // A problem with one conversation does not affect the others.
  if (error instanceof ConversationError) return { status: "failed", path, reason: error.message };
  throw error;
}
