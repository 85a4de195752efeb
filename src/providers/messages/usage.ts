import { isRecord } from "../../base/is-record.js";
import type { TokenUsage } from "../../messages/token-usage.js";

const counts = ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens"] as const;

/** What an answer cost: told at its start and again at its end, when only some of it may be said. */
export class AnthropicUsage {
  readonly #counts: Record<(typeof counts)[number], number> = {
    input_tokens: 0,
    cache_read_input_tokens: 0,
    cache_creation_input_tokens: 0,
    output_tokens: 0,
  };
  #thinking = 0;

  read(usage: unknown): void {
    if (!isRecord(usage)) return;
    for (const name of counts) this.#counts[name] = tokens(usage[name]) ?? this.#counts[name];
    const details = usage["output_tokens_details"];
    if (isRecord(details)) this.#thinking = tokens(details["thinking_tokens"]) ?? this.#thinking;
  }

  /** The API counts what it took from its cache, or put there, apart from the input. */
  total(): TokenUsage {
    const { cache_read_input_tokens: cached, output_tokens } = this.#counts;
    const input_tokens = this.#counts.input_tokens + cached + this.#counts.cache_creation_input_tokens;
    return {
      input_tokens,
      cached_input_tokens: cached,
      output_tokens,
      reasoning_output_tokens: this.#thinking,
      total_tokens: input_tokens + output_tokens,
    };
  }
}

function tokens(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}
