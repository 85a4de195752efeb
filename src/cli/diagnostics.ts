import { type DebugLog, type LogLevel, openDebugLog } from "../config/debug-log.js";
import { homePaths } from "../config/paths.js";
import { createRedactor, secretsOf } from "../config/secrets/redact.js";
import type { Terminal } from "./terminal/terminal.js";

/** What a command tells besides its answer: to the person on stderr, to the debug log for later. */
export interface Diagnostics {
  /** Where the debug log is. */
  readonly place: string;
  /** A line on stderr, without secrets. */
  tell(text: string): Promise<void>;
  /** The same, and nothing when it was told so before: what is read twice is not two faults. */
  tellOnce(text: string): Promise<void>;
  /** From now on these are in no line any more. */
  hide(secrets: readonly string[]): void;
  /** From now on every line of the debug log carries this conversation's id. */
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
  // Most runs have nothing to log.
  let opened: DebugLog | undefined;
  const open = (): DebugLog => openDebugLog({ directory: place, redact, level, now: Date.now });

  const told = new Set<string>();
  const tell = (text: string): Promise<void> => terminal.stderr.write(`${redact(text)}\n`);

  return {
    place,
    tell,
    tellOnce: async (text) => {
      if (told.has(text)) return;
      told.add(text);
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
