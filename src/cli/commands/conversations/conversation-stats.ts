import type { ConversationFacts, ModelUsage, Tokens } from "../../../rollouts/index/conversation-facts.js";
import type { SavedConversation } from "../../conversations/named-conversations.js";

interface Used extends Tokens {
  turns: number;
}

export interface ConversationStats {
  readonly total: Used & { conversations: number; empty: number; answers: number; toolCalls: number; cost?: number };
  /** The most spent first. */
  readonly models: readonly (ModelUsage & { readonly cost?: number })[];
  /** By the folders they were begun in, the most conversations first. */
  readonly projects: readonly (Used & { readonly cwd: string; conversations: number })[];
}

/** Adds up what is known of conversations; those that could not be read are only counted. */
export function conversationStats(
  conversations: readonly SavedConversation[],
  facts: ReadonlyMap<SavedConversation, ConversationFacts>,
  costOfModel: (usage: ModelUsage) => number | undefined,
): ConversationStats {
  const total = { conversations: 0, empty: 0, answers: 0, toolCalls: 0, ...nothingUsed() };
  const models = new Map<string, ModelUsage>();
  const projects = new Map<string, Used & { cwd: string; conversations: number }>();
  for (const conversation of conversations) {
    const known = facts.get(conversation);
    const { cwd = "unknown", empty } = conversation;
    const project = entryOf(projects, cwd, () => ({ cwd, conversations: 0, ...nothingUsed() }));
    project.conversations += 1;
    total.conversations += 1;
    total.empty += empty ? 1 : 0;
    total.answers += known?.answers ?? 0;
    total.toolCalls += known?.toolCalls ?? 0;
    for (const usage of known?.usage ?? []) {
      const { provider, model } = usage;
      const entry = entryOf(models, JSON.stringify([provider, model]), () => ({ provider, model, ...nothingUsed() }));
      for (const sum of [total, project, entry]) add(sum, usage);
    }
  }
  const priced = [...models.values()].map((usage) => ({ ...usage, ...costField(costOfModel(usage)) }));
  const costs = priced.flatMap(({ cost }) => cost ?? []);
  return {
    total: { ...total, ...costField(costs.length === 0 ? undefined : costs.reduce((sum, cost) => sum + cost, 0)) },
    models: priced.toSorted((a, b) => b.total - a.total || b.turns - a.turns),
    projects: [...projects.values()].toSorted((a, b) => b.conversations - a.conversations || b.total - a.total),
  };
}

/** In US dollars, where a price is known. */
function costField(cost: number | undefined): { cost?: number } {
  return cost === undefined ? {} : { cost };
}

function entryOf<T>(entries: Map<string, T>, key: string, make: () => T): T {
  const entry = entries.get(key) ?? make();
  entries.set(key, entry);
  return entry;
}

function add(sum: Used, { turns, input, cached, output, total }: Used): void {
  sum.turns += turns;
  sum.input += input;
  sum.cached += cached;
  sum.output += output;
  sum.total += total;
}

function nothingUsed(): Used {
  return { turns: 0, input: 0, cached: 0, output: 0, total: 0 };
}
