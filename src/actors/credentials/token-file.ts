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
import { FailureError } from "../../messages/failure.js";

/** A token is renewed under the lock, over a network: a living process may keep it for so long. */
const holdMs = 60_000;

/** cody's own tokens, in one file below its home that only its owner can read. */
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
      // What could not be written afterwards must not be renewed: the others would be left with what is used up.
      const message = `${this.path} cannot be changed (${systemReason(error)}), so no token was renewed`;
      throw new FailureError({ code: "not_saved", message, retryable: false }, { cause: error });
    }
  }

  /** Only for who holds the lock. Without tokens those there are are taken out. */
  async write(login: LoginName, tokens: TokenSet | undefined): Promise<void> {
    const file = (await this.#file()) ?? { version: 1, logins: {} };
    const { [login]: _, ...others } = file.logins;
    const logins = tokens === undefined ? others : { ...others, [login]: tokens };
    await writeAtomic(this.path, `${JSON.stringify({ ...file, logins }, undefined, 2)}\n`);
  }

  /** The login to the MCP server at this address, and at no other. */
  async readMcp(url: string): Promise<McpLogin | undefined> {
    const { mcp = {} } = (await this.#file()) ?? {};
    return Object.hasOwn(mcp, url) ? McpLogin.safeParse(mcp[url]).data : undefined;
  }

  /** Only for who holds the lock. Without a login the one there is is taken out. */
  async writeMcp(url: string, login: McpLogin | undefined): Promise<void> {
    const file = (await this.#file()) ?? { version: 1, logins: {} };
    const { [url]: _, ...others } = file.mcp ?? {};
    const mcp = login === undefined ? others : { ...others, [url]: login };
    await writeAtomic(this.path, `${JSON.stringify({ ...file, mcp }, undefined, 2)}\n`);
  }

  /** All of them, also what cannot be read; says whether there was anything. */
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
    const message = `${this.path} is damaged, or was written by another version. Delete it and run: cody login`;
    throw new FailureError({ code: "auth", message, retryable: false });
  }
}
