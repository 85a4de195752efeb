import { isRecord } from "../../base/is-record.js";

export interface Tokens {
  input: number;
  /** Input tokens served from the provider's cache. */
  cached: number;
  output: number;
  total: number;
}

/** A conversation's token usage of one model. */
export interface ModelUsage extends Tokens {
  readonly provider: string;
  readonly model: string;
  turns: number;
}

/** Facts about a conversation besides its messages; plain data, so that it can be stored and continued later. */
export interface ConversationFacts {
  startedAt?: string;
  cwd?: string;
  cliVersion?: string;
  originator?: string;
  gitBranch?: string;
  gitCommit?: string;
  title?: string;
  /** The provider and model of the last turn. */
  provider?: string;
  model?: string;
  /** The file is not in Codex's format, so reading cannot resume in its middle. */
  isForeign: boolean;
  turns: number;
  answers: number;
  toolCalls: number;
  /** Total usage according to the last report. */
  spent: Tokens;
  usage: ModelUsage[];
  /** Tool names of calls without an output yet, by call id. */
  calls: Record<string, string>;
}

export function emptyFacts(): ConversationFacts {
  return { isForeign: false, turns: 0, answers: 0, toolCalls: 0, spent: noTokens(), usage: [], calls: {} };
}

/** Returns the usage entry of the current model and creates it if necessary. */
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
