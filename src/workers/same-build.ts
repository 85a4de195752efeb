/** Identifies the build that this code belongs to; set by `scripts/build.mjs`, absent when the sources run. */
declare const CODY_BUILD: string | undefined;
/** The text of the error for code that cannot be loaded any more; set by `scripts/bundle.mjs`. */
declare const CODY_REPLACED: string;

const build = typeof CODY_BUILD === "string" ? CODY_BUILD : "";

/**
 * The arguments of every thread. The code of a thread is read when the thread starts, which may be after an update of
 * the package, and threads of two versions must not exchange messages.
 */
export const threadArguments: readonly string[] = [build];

/** Called first in a thread: throws if the code that started it belongs to another build. */
export function refuseOtherBuild(): void {
  const [starter = ""] = process.argv.slice(2);
  if (build !== "" && starter !== "" && starter !== build) throw new Error(CODY_REPLACED);
}

/** Why a thread died. Its file does not exist during an update, and after the package was removed. */
export function threadDeath(error: unknown): string {
  const reason = rootCause(error);
  const isGone = build !== "" && missingEntry.test(reason);
  return `the thread died: ${isGone ? CODY_REPLACED : reason}`;
}

const missingEntry = /^Cannot find module '[^']*\/dist\/workers\/entries\//;

/** The innermost cause, which is where the error of a thread that could not start is found. */
function rootCause(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : rootCause(error.cause);
}
