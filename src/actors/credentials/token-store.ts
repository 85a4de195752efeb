import { lstat, rm } from "node:fs/promises";
import { makeDirectory } from "../../base/fs/make-directory.js";
import { NotRegularError, openRegular, readAt, readRegular } from "../../base/fs/open-regular.js";
import { writeAtomic } from "../../base/fs/write-atomic.js";
import { jsonOrUndefined } from "../../base/parse.js";
import { systemReason, systemCode } from "../../base/system-error.js";
import { withFileLock } from "../../config/file-lock.js";
import { homePaths } from "../../config/paths.js";
import type { LoginName } from "../../config/providers/logins.js";
import { FailureError } from "../../messages/failure-error.js";
import { McpLogin, TokenFile, type TokenSet } from "../../messages/tokens.js";

/** Far above the few thousand bytes of a token file. */
const maxBytes = 1024 * 1024;

/** A live process may hold the lock this long, because it renews tokens over the network. */
const holdMs = 60_000;

/** cody's own tokens, in one file in its home directory that only the owner can read. */
export class TokenStore {
  readonly path: string;
  readonly #home: string;

  constructor(home: string) {
    this.#home = home;
    this.path = homePaths(home).tokens;
  }

  async read(login: LoginName): Promise<TokenSet | undefined> {
    return (await this.#file())?.logins[login];
  }

  /** Runs `work` while no other process changes the file. */
  async locked<T>(work: () => Promise<T>): Promise<T> {
    try {
      await makeDirectory(this.#home);
      return await withFileLock(`${this.path}.lock`, work, { holdMs });
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (error instanceof FailureError || code === undefined) throw error;
      // Do not renew tokens that cannot be written: other processes would be left with used-up ones.
      const message = `Cannot change ${this.path} (${systemReason(error)}), so no token was renewed`;
      throw new FailureError({ code: "not_saved", message, retryable: false }, { cause: error });
    }
  }

  /** Call only while holding the lock. Undefined tokens remove the existing ones. */
  async write(login: LoginName, tokens: TokenSet | undefined): Promise<void> {
    const file = (await this.#file()) ?? { version: 1, logins: {} };
    const { [login]: _, ...others } = file.logins;
    const logins = tokens === undefined ? others : { ...others, [login]: tokens };
    await writeAtomic(this.path, `${JSON.stringify({ ...file, logins }, undefined, 2)}\n`);
  }

  /** Returns the login to the MCP server at exactly this URL. */
  async readMcp(url: string): Promise<McpLogin | undefined> {
    const { mcp = {} } = (await this.#file()) ?? {};
    return Object.hasOwn(mcp, url) ? McpLogin.safeParse(mcp[url]).data : undefined;
  }

  /** Call only while holding the lock. An undefined login removes the existing one. */
  async writeMcp(url: string, login: McpLogin | undefined): Promise<void> {
    const file = (await this.#file()) ?? { version: 1, logins: {} };
    const { [url]: _, ...others } = file.mcp ?? {};
    const mcp = login === undefined ? others : { ...others, [url]: login };
    await writeAtomic(this.path, `${JSON.stringify({ ...file, mcp }, undefined, 2)}\n`);
  }

  /** Deletes the file, even if it is unreadable; returns whether it existed. */
  async forget(): Promise<boolean> {
    const isThere = await lstat(this.path).then(
      () => true,
      () => false,
    );
    if (isThere) await this.locked(() => rm(this.path, { force: true }));
    return isThere;
  }

  async #file(): Promise<TokenFile | undefined> {
    const text = await readPrivate(this.path);
    if (text === undefined) return undefined;
    const result = TokenFile.safeParse(jsonOrUndefined(text));
    if (result.success) return result.data;
    const message = `${this.path} is damaged or was written by another version. Delete it and run: cody login`;
    throw new FailureError({ code: "auth", message, retryable: false });
  }
}

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
async function readPrivate(path: string): Promise<string | undefined> {
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
