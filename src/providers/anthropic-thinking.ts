import type Anthropic from "@anthropic-ai/sdk";
import type { AnthropicMessage } from "./anthropic-history.js";

const budgets = { low: 1_024, medium: 4_096, high: 16_384 } as const;
type Effort = keyof typeof budgets;
/** Which say their version behind the name, as all since Claude 4 do. */
const versioned = /claude-[a-z]+-(\d+)(?:[-.](\d{1,2}))?(?!\d)/;

export type ThinkingParams = Pick<Anthropic.MessageCreateParams, "max_tokens" | "output_config" | "thinking">;

/** How much may be thought and said; an effort the API has no word for is left out. */
export function thinkingParams(
  model: string,
  effort: string | null | undefined,
  messages: readonly AnthropicMessage[],
  maxTokens: number,
): ThinkingParams {
  if (!isEffort(effort)) return { max_tokens: maxTokens };
  if (thinksAdaptively(model)) {
    const thinking = { type: "adaptive", display: "summarized" } as const;
    return { max_tokens: maxTokens, thinking, output_config: { effort } };
  }
  if (!mayThink(messages)) return { max_tokens: maxTokens };
  const budget_tokens = budgets[effort];
  // What is thought counts as said: the answer keeps its room.
  return { max_tokens: maxTokens + budget_tokens, thinking: { type: "enabled", budget_tokens } };
}

function isEffort(effort: string | null | undefined): effort is Effort {
  return effort !== null && effort !== undefined && Object.hasOwn(budgets, effort);
}

/** Since Claude 4.6 the model decides for itself; a budget is refused by later ones. */
function thinksAdaptively(model: string): boolean {
  if (model.includes("claude-mythos")) return true;
  const [, major, minor] = versioned.exec(model) ?? [];
  return Number(major ?? 0) * 100 + Number(minor ?? 0) >= 406;
}

/** With a budget the API refuses outputs of calls that were made without a thought, as by another model. */
function mayThink(messages: readonly AnthropicMessage[]): boolean {
  if (messages.at(-1)?.content[0]?.type !== "tool_result") return true;
  const first = messages.at(-2)?.content[0]?.type;
  return first === "thinking" || first === "redacted_thinking";
}
