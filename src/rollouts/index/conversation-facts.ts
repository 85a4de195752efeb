import { isRecord } from "../../base/is-record.js";

export interface Tokens {
  input: number;
  /** Of the input, what the provider had kept. */
  cached: number;
  output: number;
  total: number;
}

/** What a conversation has used of one model. */
export interface ModelUsage extends Tokens {
  readonly provider: string;
  readonly model: string;
  turns: number;
}

/** What is known of a conversation besides its messages; plain data that is written down and gone on with. */
export interface ConversationFacts {
  startedAt?: string;
  cwd?: string;
  cliVersion?: string;
  originator?: string;
  gitBranch?: string;
  gitCommit?: string;
  title?: string;
  /** Whom it spoke to last. */
  provider?: string;
  model?: string;
  /** Not in Codex's form: it cannot be gone on with in the middle. */
  isForeign: boolean;
  turns: number;
  answers: number;
  toolCalls: number;
  /** All it had spent when that was told last. */
  spent: Tokens;
  usage: ModelUsage[];
  /** The names of tools whose outputs are still to come, by the ids of their calls. */
  calls: Record<string, string>;
}

export function emptyFacts(): ConversationFacts {
  return { isForeign: false, turns: 0, answers: 0, toolCalls: 0, spent: noTokens(), usage: [], calls: {} };
}

/** What it has used of the model it speaks to now. */
export function usageOf({ usage, provider = "unknown", model = "unknown" }: ConversationFacts): ModelUsage {
  const known = usage.find((each) => each.provider === provider && each.model === model);
  if (known !== undefined) return known;
  const fresh = { provider, model, turns: 0, ...noTokens() };
  usage.push(fresh);
  return fresh;
}

export function tokensIn(value: unknown): Tokens {
  if (!isRecord(value)) return noTokens();
  return {
    input: count(value["input_tokens"]),
    cached: count(value["cached_input_tokens"]),
    output: count(value["output_tokens"]),
    total: count(value["total_tokens"]),
  };
}

function noTokens(): Tokens {
  return { input: 0, cached: 0, output: 0, total: 0 };
}

function count(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
}
