/** The rights of commands in a sandbox, as plain data: what a person approves, and what is shown to the model. */
export interface SandboxSpec {
  /** In the mode `read-only`, commands write only to their temporary folder. */
  readonly mode: "read-only" | "workspace-write";
  /** The real path of the conversation's folder. */
  readonly workspace: string;
  /** The real paths of the other folders that commands may write to; empty in the mode `read-only`. */
  readonly writableRoots: readonly string[];
  /** `on` shares the machine's network. */
  readonly network: "off" | "on";
  /** `workspace` permits unix sockets. */
  readonly unixSockets: "off" | "workspace";
}

/** Whether commands can be confined on this machine; the texts are one line for a person. */
export type SandboxStatus =
  { readonly works: true; readonly detail: string } | { readonly works: false; readonly reason: string };

/** A sandbox for the commands of one turn. */
export interface CommandSandbox {
  readonly spec: SandboxSpec;
  /** Prepares one command. Rejects with a text for the model if the sandbox cannot be set up. */
  enter(command: { readonly argv: readonly string[]; readonly cwd: string }): Promise<SandboxedCommand>;
}

/** One command in its sandbox. Disposed once its processes have ended: then it removes what it has put into folders. */
export interface SandboxedCommand extends AsyncDisposable {
  /** Starts the command in its sandbox. */
  readonly argv: readonly string[];
  /** Variables that are different in the sandbox. */
  readonly env: Readonly<Record<string, string>>;
  /** The system call filter, which the program reads to its end from `filterDescriptor`. */
  readonly filter: Buffer;
  /** Describes what the sandbox denied, judging by the output of a command that failed; one line each. */
  notes(output: string): string[];
}

/** The sandbox's program reads its system call filter from this descriptor. */
export const filterDescriptor = 4;

/** The sandbox's program writes the process id of the first process inside to this descriptor, as JSON. */
export const infoDescriptor = 5;
