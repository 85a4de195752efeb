import { type DebugLog, type LogLevel, openDebugLog } from "../config/debug-log.js";
import { homePaths } from "../config/paths.js";
import { createRedactor, secretsOf } from "../config/secrets/redact.js";
import type { Terminal } from "./terminal/terminal.js";

/** A command's messages besides its result: on stderr for the user, and in the debug log. */
export interface Diagnostics {
  /** The folder of the debug log. */
  readonly place: string;
  /** Writes a line to stderr, with secrets redacted. */
  tell(text: string): Promise<void>;
  /** Like `tell`, but skips a text that was written before: settings may be loaded several times in one run. */
  tellOnce(text: string): Promise<void>;
  /** Redacts these texts in all later lines. */
  hide(secrets: readonly string[]): void;
  /** Adds this conversation's id to all later lines of the debug log. */
  about(conversationId: string): void;
  log(level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>): void;
  close(): Promise<void>;
}

export function openDiagnostics(terminal: Terminal, home: string): Diagnostics {
  const place = homePaths(home).logs;
  let hidden: readonly string[] = [];
  let redactor: ((text: string) => string) | undefined;
  const redact = (text: string): string => {
    redactor ??= createRedactor([...secretsOf(terminal.env), ...hidden]);
    return redactor(text);
  };
  const level: LogLevel = terminal.env["CODY_DEBUG"] === "1" ? "debug" : "info";
  let aboutFields: { readonly conversationId?: string } = {};
  // Opened on first use, because most runs log nothing.
  let opened: DebugLog | undefined;
  const open = (): DebugLog => openDebugLog({ directory: place, redact, level, now: Date.now });

  const printed = new Set<string>();
  const tell = (text: string): Promise<void> => terminal.stderr.write(`${redact(text)}\n`);

  return {
    place,
    tell,
    tellOnce: async (text) => {
      if (printed.has(text)) return;
      printed.add(text);
      await tell(text);
    },
    hide: (secrets) => {
      hidden = [...hidden, ...secrets];
      redactor = undefined;
    },
    about: (conversationId) => {
      aboutFields = { conversationId };
    },
    log: (lineLevel, message, fields) => {
      if (lineLevel === "debug" && level !== "debug") return;
      opened ??= open();
      opened.write(lineLevel, message, { ...aboutFields, ...fields });
    },
    close: async () => opened?.close(),
  };
}
