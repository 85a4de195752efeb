import { messageOf } from "../../runtime/failures.js";
import type { SystemPrompt, SystemPrompts } from "./system-prompts.js";
import { withinRounds } from "../../../base/time/waiting.js";

/** A disk that does not answer must not keep a turn from beginning. */
const lookMs = 3_000;
const tooLate = "The instruction files did not answer in time: the model is told what they said before";

/** What the model of one conversation is told before its history, as it was when the turn began. */
export class ToldPrompt {
  readonly #prompts: Pick<SystemPrompts, "current" | "bare">;
  #prompt: SystemPrompt | undefined;
  /** What was said before is not said again. */
  #said: readonly string[] = [];

  constructor(prompts: Pick<SystemPrompts, "current" | "bare">) {
    this.#prompts = prompts;
  }

  text(cwd: string): string {
    return (this.#prompt?.cwd === cwd ? this.#prompt : this.#prompts.bare(cwd)).text;
  }

  /** Looks at the files again. */
  async look(cwd: string, signal?: AbortSignal): Promise<readonly string[]> {
    let failure: string | undefined;
    const looking = this.#prompts.current(cwd).then(
      (prompt) => (this.#prompt = prompt),
      (error: unknown) => (failure = `The instruction files cannot be told to the model: ${messageOf(error)}`),
    );
    const isInTime = await withinRounds(looking, lookMs, signal);
    if (failure !== undefined) return [failure];
    if (isInTime) return this.#prompt?.notices ?? [];
    return signal?.aborted === true ? this.#said : [tooLate];
  }

  /** The same for a turn that begins; gives what a person has not been told yet. */
  async refresh(cwd: string, signal: AbortSignal): Promise<readonly string[]> {
    const notices = await this.look(cwd, signal);
    const unsaid = notices.filter((notice) => !this.#said.includes(notice));
    this.#said = notices;
    return unsaid;
  }
}
