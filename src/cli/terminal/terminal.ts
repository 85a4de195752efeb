import type { Provider } from "../../providers/provider.js";
import type { Tool } from "../../tools/tool.js";
import type { Output } from "./output.js";

export const signalNames = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
export type SignalName = (typeof signalNames)[number];

export type Input = NodeJS.ReadableStream & { readonly isTTY?: boolean; destroy?(): unknown };

/** Everything a command may touch of the process it runs in. */
export interface Terminal {
  readonly env: Readonly<NodeJS.ProcessEnv>;
  readonly cwd: string;
  readonly homedir: string;
  readonly stdin: Input;
  /** Whether stdin is a pipe or a regular file, not a terminal, a socket or a device such as /dev/null. */
  readonly isStdinPiped: boolean;
  readonly stdout: Output;
  readonly stderr: Output;
  /** The clock, in milliseconds since 1970; the machine's by default. */
  readonly now?: () => number;
  /** Providers besides the built-in ones. */
  readonly providers?: readonly Provider[];
  /** Tools besides the built-in ones, or in their place. */
  readonly tools?: readonly Tool[];
  /** Returns how to stop listening. */
  onSignal(listener: (name: SignalName) => void): () => void;
  /** Hears of what nobody caught. Returns how to stop listening. */
  onCrash(listener: (error: unknown) => void): () => void;
  /** Ends the process at once: only for when waiting is over. */
  exit(code: number): void;
}
