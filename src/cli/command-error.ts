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

/** Replaced by the help of the command that was typed. */
const seeHelp = "See: cody --help";

/** An error in the command line itself. */
export function usageError(message: string, ...hints: string[]): CommandError {
  return new CommandError(message, exitCodes.usage, hints.length > 0 ? hints : [seeHelp]);
}

/** The hints of an error for somebody who typed the command with this name. */
export function hintsFor({ hints }: CommandError, name: string): string[] {
  return hints.map((hint) => (hint === seeHelp && name !== "" ? `See: cody ${name} --help` : hint));
}
