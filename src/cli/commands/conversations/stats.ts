import { visible } from "../../../base/text/visible.js";
import { costOf, type ModelEntries, priceOf } from "../../../config/models/models.js";
import { noTokens } from "../../../messages/token-usage.js";
import type { ConversationFacts, ModelUsage } from "../../../rollouts/index/conversation-facts.js";
import { factsInFiles } from "../../../rollouts/index/scan.js";
import { type CommandContext, printResult } from "../../context.js";
import type { SavedConversation } from "../../conversations/named-conversations.js";
import { tokenText } from "../../format/token-text.js";
import { loadSettings } from "../../load-settings.js";
import { conversationStats, type ConversationStats } from "./conversation-stats.js";
import { fromIndexOrFiles, wantedLibrary } from "./library.js";

/** More projects than these are only counted for a person. */
const maxProjects = 20;

/** How much was said and spent, in all, with each model and in each project. */
export async function statsCommand(context: CommandContext): Promise<number> {
  const library = await wantedLibrary(context);
  const facts = await fromIndexOrFiles<Map<SavedConversation, ConversationFacts>>(context, library, {
    index: (index) => index.facts(library.wanted),
    files: () => factsInFiles(library.wanted),
  });
  const { models = {} } = (await loadSettings(context)).values;
  const stats = conversationStats(library.wanted, facts, (usage) => costOfModel(usage, models));
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
    ...(total.cost === undefined ? [] : [`Cost: about ${costText(total.cost)}, of models whose price is known`]),
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
  const kept = cached === 0 ? "" : ` (${tokenText(cached)} cached)`;
  return `${tokenText(input)} in${kept}, ${tokenText(output)} out`;
}

/** What was spent with a model, at the price that is known now, in US dollars; undefined where none is. */
function costOfModel({ model, input, cached, output }: ModelUsage, models: ModelEntries): number | undefined {
  const price = priceOf(model, models);
  const usage = { ...noTokens, input_tokens: input, cached_input_tokens: cached, output_tokens: output };
  return price === undefined ? undefined : costOf(usage, price);
}

function costText(cost: number): string {
  return `$${cost < 1 ? cost.toFixed(4) : cost.toFixed(2)}`;
}
