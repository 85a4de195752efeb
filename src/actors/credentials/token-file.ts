import { lstat, rm } from "node:fs/promises";
import { homePaths } from "../../config/paths.js";
import { withFileLock } from "../../config/file-lock.js";
import type { LoginName } from "../../config/providers/logins.js";
import { makeDirectory } from "../../base/fs/make-directory.js";
import { writeAtomic } from "../../base/fs/write-atomic.js";
import { McpLogin, TokenFile, type TokenSet } from "../../messages/tokens.js";
import { readPrivate } from "./read-private.js";
import { jsonOrUndefined } from "../../base/parse.js";
import { systemReason } from "../../base/system-error.js";
import { FailureError } from "../../messages/failure-error.js";

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
