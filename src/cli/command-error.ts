/** An error the user can fix. It is shown without a stack trace. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  readonly exitCode: number;
  /** Shown below the message. */
  readonly hints: readonly string[];

  constructor(message: string, exitCode: number, hints: readonly string[] = []) {
    super(message);
    this.exitCode = exitCode;
    this.hints = hints;
  }
}

export const exitCodes = {
  failed: 1,
  usage: 2,
  /** A call needed approval, and nobody could be asked. */
  unapproved: 3,
  /** The turn was stopped at one of its limits. */
  limit: 4,
  truncated: 5,
  unexpected: 70,
  notSaved: 74,
  /** The package was updated or removed while the command ran. The same command works when it is started again. */
  replaced: 75,
  interrupted: 130,
} as const;

/** An error in the command line itself. */
export function usageError(message: string, ...hints: string[]): CommandError {
  return new CommandError(message, exitCodes.usage, hints.length > 0 ? hints : ["See: cody --help"]);
}
