import type { Provider } from "../../providers/provider.js";
import type { Tool } from "../../tools/tool.js";
import type { Output } from "./output.js";
import type { JobControl } from "./screen/job-control.js";

export const signalNames = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
export type SignalName = (typeof signalNames)[number];

export type Input = NodeJS.ReadableStream & { readonly isTTY?: boolean; destroy?(): unknown };

/** The only access of commands to the process they run in. */
export interface Terminal {
  readonly env: Readonly<NodeJS.ProcessEnv>;
  readonly cwd: string;
  readonly homedir: string;
  readonly stdin: Input;
  /** True if stdin is a pipe or a regular file, not a terminal, a socket or a device such as /dev/null. */
  readonly isStdinPiped: boolean;
  readonly stdout: Output;
  readonly stderr: Output;
  /** The clock in milliseconds since 1970; defaults to the system clock. */
  readonly now?: () => number;
  /** Providers besides the built-in ones. */
  readonly providers?: readonly Provider[];
  /** Tools besides the built-in ones; the same name replaces one. */
  readonly tools?: readonly Tool[];
  /** The program and the first arguments that start cody again; absent where there is no process of its own. */
  readonly program?: readonly [string, ...string[]];
  /** Returns a function that removes the listener. */
  onSignal(listener: (name: SignalName) => void): () => void;
  /** For the interactive screen; undefined where there is no process of its own. */
  readonly job?: JobControl;
  /** Reports uncaught errors. Returns a function that removes the listener. */
  onCrash(listener: (error: unknown) => void): () => void;
  /** Ends the process at once, without any clean-up. */
  exit(code: number): void;
}
