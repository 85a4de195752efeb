import {
  CodexLockError,
  ConversationError,
  ConversationInUseError,
  ConversationNotFoundError,
  CorruptedRolloutError,
  ImportError,
  InvalidInputError,
} from "../base/errors.js";
import { errorMessage } from "../base/error-message.js";
import { CommandError, exitCodes, hintsFor } from "./command-error.js";
import { shortened } from "../base/text/truncate.js";
import { systemProblem } from "../base/system-error.js";
import { visible } from "../base/text/visible.js";
import { FailureError } from "../messages/failure-error.js";

const maxMessageChars = 300;

interface ErrorDescription {
  readonly exitCode: number;
  readonly lines: readonly string[];
  /** True for unforeseen errors, whose stack is written to the debug log. */
  readonly unexpected: boolean;
}

/** The text and the exit code for an error of a command. */
export function describeError(error: unknown, command = ""): ErrorDescription {
  if (error instanceof CommandError) return expected(error.exitCode, error.message, ...hintsFor(error, command));
  if (error instanceof InvalidInputError) return expected(exitCodes.usage, error.message);
  if (error instanceof ImportError) return expected(exitCodes.failed, visible(error.message));
  if (error instanceof FailureError) {
    return expected(error.failure.code === "not_saved" ? exitCodes.notSaved : exitCodes.failed, error.message);
  }
  if (isReplaced(error)) return expected(exitCodes.replaced, errorMessage(error));
  const aboutConversation = describeConversationError(error);
  if (aboutConversation !== undefined) return expected(exitCodes.failed, ...aboutConversation);
  const problem = systemProblem(error);
  if (problem !== undefined) {
    return expected(exitCodes.failed, visible(problem.message), ...(problem.hint === undefined ? [] : [problem.hint]));
  }
  const message = errorMessage(error);
  const [firstLine = ""] = message.split("\n");
  return {
    exitCode: exitCodes.unexpected,
    lines: [`✗ Unexpected error: ${shortened(firstLine, maxMessageChars)}`],
    unexpected: true,
  };
}

/** Whether the package was updated or removed while the command ran; `scripts/bundle.mjs` sets this code. */
export function isReplaced(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "CODY_REPLACED";
}

function describeConversationError(error: unknown): [string, ...string[]] | undefined {
  if (!(error instanceof ConversationError)) return undefined;
  const conversation = `Conversation '${error.conversationId}'`;
  if (error instanceof ConversationNotFoundError) return [`${conversation} not found`, "List available: cody list"];
  if (error instanceof CorruptedRolloutError) {
    const hint = `Preview a repair: cody repair ${error.conversationId}`;
    return [`${conversation} has corrupted data`, error.message, hint];
  }
  if (error instanceof ConversationInUseError)
    return [`${conversation} is in use by ${error.owner}`, ...forceHint(error)];
  if (error instanceof CodexLockError) {
    return [`${conversation} cannot be locked against Codex: ${error.reason}`, forkHint(error)];
  }
  return [`${conversation} has no turns`];
}

/** Only suggests --force if the owner cannot be proved dead. */
function forceHint({ owner, conversationId }: ConversationInUseError): string[] {
  if (owner === "Codex") return [forkHint({ conversationId })];
  const far = owner.includes("another") || owner.includes("cannot be read");
  return far ? [`If no other cody is using it: cody resume ${conversationId} --force`] : [];
}

function forkHint({ conversationId }: Pick<ConversationError, "conversationId">): string {
  return `To continue in a copy: cody resume ${conversationId} --fork`;
}

function expected(exitCode: number, message: string, ...hints: string[]): ErrorDescription {
  const [first, ...rest] = message.split("\n");
  return { exitCode, lines: [`✗ ${first}`, ...[...rest, ...hints].map((line) => `  ${line}`)], unexpected: false };
}
