import type { Config } from "../../messages/config.js";

export interface AccessOptions {
  readonly home: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly config: Pick<Config, "providers" | "logins">;
  readonly now: () => number;
  /** Something a person should know, although all goes on. */
  readonly warn: (message: string) => void;
  /** Told of every token and key that is found, so that none is written to the disk elsewhere. */
  readonly learn: (secret: string) => void;
}
