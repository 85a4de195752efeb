import type { Config } from "../../messages/config.js";

export interface AccessOptions {
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly config: Pick<Config, "providers" | "logins">;
  readonly now: () => number;
  /** Reports a problem to the user that does not stop the work. */
  readonly warn: (message: string) => void;
  /** Called with every token and key that is found, so that it can be redacted wherever text is written to disk. */
  readonly learn: (secret: string) => void;
}
