import { NotRegularError, openRegular, readAt, readRegular } from "../../base/fs/open-regular.js";
import { systemCode } from "../../base/system-error.js";
import { FailureError } from "../../messages/failure-error.js";

/** Far above the few thousand bytes of a token file. */
const maxBytes = 1024 * 1024;

/** Reads another program's file; undefined when there is none that can be read. */
export async function readBorrowed(path: string): Promise<string | undefined> {
  try {
    return (await readRegular(path, { links: "follow", maxBytes })).toString();
  } catch {
    return undefined;
  }
}

/**
 * Reads one of cody's own private files; undefined when it does not exist. A file that others can read gets mode 0600;
 * a symbolic link or another user's file is refused.
 */
export async function readPrivate(path: string): Promise<string | undefined> {
  try {
    await using regular = await openRegular(path, { links: "refuse" });
    const { uid, mode, size } = regular.stats;
    const self = process.getuid?.();
    if (self !== undefined && uid !== self) throw refused(path, "it belongs to another user");
    if (process.platform !== "win32" && (mode & 0o077) !== 0) await regular.file.chmod(0o600);
    if (size > maxBytes) throw refused(path, "it is not a regular file");
    return (await readAt(regular.file, 0, size)).toString();
  } catch (error) {
    if (error instanceof FailureError) throw error;
    const code = systemCode(error);
    if (error instanceof NotRegularError && code === undefined) throw refused(path, "it is not a regular file");
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw refused(path, code === "ELOOP" ? "it is a symbolic link" : (code ?? "unknown"));
  }
}

function refused(path: string, why: string): FailureError {
  return new FailureError({ code: "auth", message: `${path} is ignored: ${why}`, retryable: false });
}
