import { visible } from "../../../base/text/visible.js";
import { costOf, type ModelEntries, priceOf } from "../../../config/models/models.js";
import { noTokens } from "../../../messages/token-usage.js";
import type { ConversationFacts, ModelUsage, Tokens } from "../../../rollouts/search/conversation-fold.js";
import { factsInFiles } from "../../../rollouts/search/scan.js";
import { type CommandContext, printResult } from "../../context.js";
import type { SavedConversation } from "../../conversations/named-conversations.js";
import { tokenText } from "../../format.js";
import { loadSettings } from "../../load-settings.js";
import { fromIndexOrFiles, selectLibrary } from "./library.js";

/** In the text output, further projects are only counted. */
const maxProjects = 20;

/** Prints usage statistics: totals, and per model and project. */
export async function statsCommand(context: CommandContext): Promise<number> {
  const library = await selectLibrary(context);
  const facts = await fromIndexOrFiles<Map<SavedConversation, ConversationFacts>>(context, library, {
    index: (index) => index.facts(library.wanted),
    files: () => factsInFiles(library.wanted),
  });
  const { models = {} } = (await loadSettings(context)).values;
  const stats = conversationStats(library.wanted, facts, (usage) => modelCost(usage, models));
  await printResult(context, { text: statsText(stats), json: stats });
  return 0;
}

function statsText({ total, models, projects }: ConversationStats): string {
  const empty = total.empty === 0 ? "" : `, ${total.empty} of them empty`;
  const hidden = projects.length - maxProjects;
  return [
    `Conversations: ${total.conversations}${empty}`,
    `Turns: ${total.turns}, answers: ${total.answers}, tool calls: ${total.toolCalls}`,
    `Tokens: ${tokensText(total)}`,
    ...(total.cost === undefined ? [] : [`Cost: about ${costText(total.cost)} (only models with a known price)`]),
    ...section(
      "Models:",
      models.map(({ provider, model, cost, ...used }) => {
        const spent = cost === undefined ? "" : `, about ${costText(cost)}`;
        return `${provider} (${model}): ${turnsText(used)}${spent}`;
      }),
    ),
    ...section("Projects:", [
      ...projects
        .slice(0, maxProjects)
        .map(
          ({ cwd, conversations, ...used }) => `${visible(cwd)}: ${conversations} conversation(s), ${turnsText(used)}`,
        ),
      ...(hidden > 0 ? [`and ${hidden} more`] : []),
    ]),
  ].join("\n");
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ["", title, ...lines.map((line) => `  ${line}`)];
}

function turnsText(used: { turns: number; input: number; cached: number; output: number }): string {
  return `${used.turns} turn(s), ${tokensText(used)}`;
}

function tokensText({ input, cached, output }: { input: number; cached: number; output: number }): string {
  const cachedText = cached === 0 ? "" : ` (${tokenText(cached)} cached)`;
  return `${tokenText(input)} in${cachedText}, ${tokenText(output)} out`;
}

/** The cost of a model's usage in US dollars at current prices; undefined if the price is unknown. */
function modelCost({ model, input, cached, output }: ModelUsage, models: ModelEntries): number | undefined {
  const price = priceOf(model, models);
  const usage = { ...noTokens, input_tokens: input, cached_input_tokens: cached, output_tokens: output };
  return price === undefined ? undefined : costOf(usage, price);
}

function costText(cost: number): string {
  return `$${cost < 1 ? cost.toFixed(4) : cost.toFixed(2)}`;
}

interface Used extends Tokens {
  turns: number;
}

interface ConversationStats {
  readonly total: Used & { conversations: number; empty: number; answers: number; toolCalls: number; cost?: number };
  /** Sorted by tokens, highest first. */
  readonly models: readonly (ModelUsage & { readonly cost?: number })[];
  /** Grouped by the folder they were started in, most conversations first. */
  readonly projects: readonly (Used & { readonly cwd: string; conversations: number })[];
}

/** Sums up the facts of all conversations. Those that could not be read are only counted. */
function conversationStats(
  conversations: readonly SavedConversation[],
  facts: ReadonlyMap<SavedConversation, ConversationFacts>,
  costOfModel: (usage: ModelUsage) => number | undefined,
): ConversationStats {
  const total = { conversations: 0, empty: 0, answers: 0, toolCalls: 0, ...noUsage() };
  const models = new Map<string, ModelUsage>();
  const projects = new Map<string, Used & { cwd: string; conversations: number }>();
  for (const conversation of conversations) {
    const known = facts.get(conversation);
    const { cwd = "unknown", empty } = conversation;
    const project = entryOf(projects, cwd, () => ({ cwd, conversations: 0, ...noUsage() }));
    project.conversations += 1;
    total.conversations += 1;
    total.empty += empty ? 1 : 0;
    total.answers += known?.answers ?? 0;
    total.toolCalls += known?.toolCalls ?? 0;
    for (const usage of known?.usage ?? []) {
      const { provider, model } = usage;
      const entry = entryOf(models, JSON.stringify([provider, model]), () => ({ provider, model, ...noUsage() }));
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

/** In US dollars; empty if the price is unknown. */
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

function noUsage(): Used {
  return { turns: 0, input: 0, cached: 0, output: 0, total: 0 };
}
