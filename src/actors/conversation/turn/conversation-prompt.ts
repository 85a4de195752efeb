import { messageOf } from "../../runtime/failures.js";
import type { SystemPrompt, SystemPrompts } from "./system-prompts.js";
import { withinRounds } from "../../../base/time/waiting.js";

/** A disk that does not respond must not block the start of a turn. */
const readTimeoutMs = 3_000;
const timeoutNotice = "Reading the instruction files timed out: the model gets their earlier text";

/** The system prompt of one conversation, as of the beginning of the turn. */
export class ConversationPrompt {
  readonly #prompts: Pick<SystemPrompts, "current" | "bare">;
  #prompt: SystemPrompt | undefined;
  /** The notices already shown, which are not repeated. */
  #said: readonly string[] = [];

  constructor(prompts: Pick<SystemPrompts, "current" | "bare">) {
    this.#prompts = prompts;
  }

  text(cwd: string): string {
    return (this.#prompt?.cwd === cwd ? this.#prompt : this.#prompts.bare(cwd)).text;
  }

  /** Reads the instruction files again; returns the current notices. */
  async look(cwd: string, signal?: AbortSignal): Promise<readonly string[]> {
    let failure: string | undefined;
    const looking = this.#prompts.current(cwd).then(
      (prompt) => (this.#prompt = prompt),
      (error: unknown) => (failure = `Cannot read the instruction files: ${messageOf(error)}`),
    );
    const isInTime = await withinRounds(looking, readTimeoutMs, signal);
    if (failure !== undefined) return [failure];
    if (isInTime) return this.#prompt?.notices ?? [];
    return signal?.aborted === true ? this.#said : [timeoutNotice];
  }

  /** Reads the files again for a new turn; returns the notices that the user has not seen yet. */
  async refresh(cwd: string, signal: AbortSignal): Promise<readonly string[]> {
    const notices = await this.look(cwd, signal);
    const unsaid = notices.filter((notice) => !this.#said.includes(notice));
    this.#said = notices;
    return unsaid;
  }
}
