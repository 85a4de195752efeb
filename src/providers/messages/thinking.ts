import type Anthropic from "@anthropic-ai/sdk";
import type { ModelRequest } from "../../messages/model.js";
import type { AnthropicMessage } from "./message-params.js";
import { nearestEffort } from "../sent-effort.js";

/** The room for thinking; a model that decides for itself is left as much. */
const budgets = { minimal: 1_024, low: 1_024, medium: 4_096, high: 16_384, xhigh: 32_768, max: 65_536 } as const;
type Effort = keyof typeof budgets;
const leastBudget = 1_024;

const answerTokens = 16_384;
/** So much is left for the answer at least, when not everything fits. */
const leastAnswerTokens = 4_096;
/** Which say their version behind the name, as all since Claude 4 do. */
const versioned = /claude-[a-z]+-(\d+)(?:[-.](\d{1,2}))?(?!\d)/;
const thoughtless = /claude-(?:instant|2|3(?![-.]7))/;
const thirdAndHalf = /claude-3[-.]5/;

type AdaptiveEffort = NonNullable<Anthropic.OutputConfig["effort"]>;
export type ThinkingParams = Pick<Anthropic.MessageCreateParams, "max_tokens" | "output_config" | "thinking">;

/** How much may be thought and said, each as this model takes it. What is thought counts as said. */
export function thinkingParams(request: ModelRequest, messages: readonly AnthropicMessage[]): ThinkingParams {
  const { model, maxOutputTokens, facts } = request;
  const version = versionOf(model);
  const effort = effortOf(request);
  const limit = facts?.maxOutput ?? assumedMaxOutput(model, version);
  if (version >= firstAdaptive) {
    return adaptive(effort, version, Math.min(limit, maxOutputTokens ?? limit), maxOutputTokens !== undefined);
  }
  // An answer that must be short has no room for thinking.
  if (maxOutputTokens !== undefined) return { max_tokens: Math.min(maxOutputTokens, limit) };
  if (effort === undefined || effort === "none" || !mayThink(messages)) {
    return { max_tokens: Math.min(answerTokens, limit) };
  }
  const max_tokens = Math.min(answerTokens + budgets[effort], limit);
  const budget_tokens = Math.min(budgets[effort], max_tokens - leastAnswerTokens);
  if (budget_tokens < leastBudget) return { max_tokens };
  return { max_tokens, thinking: { type: "enabled", budget_tokens } };
}

/** Since Claude 4.6 the model decides for itself; a budget is refused by later ones. */
const firstAdaptive = 406;
/** Since then there is a word between high and max. */
const firstXhigh = 407;
/** Since then it thinks when nothing is said, and not every one lets it be forbidden. */
const thinksAnyway = 500;

function adaptive(
  effort: Effort | "none" | undefined,
  version: number,
  limit: number,
  isShort: boolean,
): ThinkingParams {
  const always = version >= thinksAnyway;
  if (isShort) return { max_tokens: limit, ...(always ? { output_config: { effort: "low" } } : {}) };
  if (effort === undefined) return { max_tokens: Math.min(answerTokens + (always ? budgets.high : 0), limit) };
  const taken = ["low", "medium", "high", ...(version >= firstXhigh ? ["xhigh"] : []), "max"];
  const sent = nearestEffort(effort, taken) as AdaptiveEffort;
  const max_tokens = Math.min(answerTokens + budgets[sent], limit);
  if (effort !== "none") {
    return { max_tokens, thinking: { type: "adaptive", display: "summarized" }, output_config: { effort: sent } };
  }
  return always ? { max_tokens, output_config: { effort: sent } } : { max_tokens: Math.min(answerTokens, limit) };
}

/** Undefined also for a word nobody knows, and for a model that cannot think. */
function effortOf({ model, effort, facts }: ModelRequest): Effort | "none" | undefined {
  if (effort === null || effort === undefined || !(facts?.reasons ?? !thoughtless.test(model))) return undefined;
  return effort === "none" || Object.hasOwn(budgets, effort) ? (effort as Effort | "none") : undefined;
}

/** What a model is taken to say at most of which nobody knows better. */
function assumedMaxOutput(model: string, version: number): number {
  if (version >= firstAdaptive) return 64_000;
  if (thirdAndHalf.test(model)) return 8_192;
  return thoughtless.test(model) ? 4_096 : 32_768;
}

/** 406 for Claude 4.6; 0 for what says none. */
function versionOf(model: string): number {
  const [, major, minor] = versioned.exec(model) ?? [];
  if (major === undefined && model.includes("claude-mythos")) return firstAdaptive;
  return Number(major ?? 0) * 100 + Number(minor ?? 0);
}

/**
 * With a budget the API refuses outputs of calls that were made without a thought, as by another model; also those before,
 * as long as calls and their outputs follow one another.
 */
function mayThink(messages: readonly AnthropicMessage[]): boolean {
  for (let index = messages.length - 1; messages[index]?.content[0]?.type === "tool_result"; index -= 2) {
    const first = messages[index - 1]?.content[0]?.type;
    if (first !== "thinking" && first !== "redacted_thinking") return false;
  }
  return true;
}
