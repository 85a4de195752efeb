import { conversationName } from "../../../base/text/conversation-name.js";
import { shortened } from "../../../base/text/truncate.js";
import { visible } from "../../../base/text/visible.js";
import { findTarget } from "../../conversations/choose-conversation.js";
import { compactedText, localTime, tokenText } from "../../format.js";
import { readTurns } from "./conversation-turns.js";
import { printLines, type SlashCall, type Then } from "./slash-call.js";

const noMessagesText = "This conversation has no messages yet.";
const maxTitleChars = 70;

export async function newConversation({ context, current, screen }: SlashCall): Promise<Then> {
  if (screen !== undefined) await screen.newConversation();
  else {
    await current.clear();
    await printLines(context, [`Conversation: ${current.id}`]);
  }
  return "stay";
}

export async function resume({ context, current, text, screen }: SlashCall): Promise<Then> {
  if (text !== "") {
    const target = await findTarget(context, current.surroundings.places, text);
    await current.resume(target);
    if (screen === undefined) await printLines(context, [`Resumed conversation: ${current.id}`]);
  } else if (screen === undefined) await context.tell("✗ Missing id or name. Usage: /resume <id>. See: /conversations");
  else await screen.pick("resume");
  return "stay";
}

export async function rename({ context, current, text }: SlashCall): Promise<Then> {
  if (text === "") {
    await context.tell("✗ Missing name. Usage: /rename <name>");
    return "stay";
  }
  const name = conversationName(text);
  const { conversation } = await current.player();
  const saved = await conversation.rename(name);
  if (saved.status === "not_saved") await context.tell(`✗ The name could not be saved: ${saved.reason}`);
  else await printLines(context, [`Name: ${visible(name)}`]);
  return "stay";
}

export async function tree({ context, current, screen }: SlashCall): Promise<Then> {
  const conversation = current.begun?.conversation;
  if (conversation === undefined) await printLines(context, [noMessagesText]);
  else if (screen !== undefined) await screen.pick("tree");
  else {
    const turns = await readTurns(conversation);
    const rows = turns.map(
      ({ number, title, at }) =>
        `${String(number).padStart(4)}  ${localTime(at)}  ${visible(shortened(title, maxTitleChars))}`,
    );
    await printLines(context, [...rows, "To continue from one in a copy: /fork <turn>"]);
  }
  return "stay";
}

export async function uncompact({ context, current, signal }: SlashCall): Promise<Then> {
  if (current.begun === undefined) {
    await printLines(context, [noMessagesText]);
    return "stay";
  }
  const { begun } = current;
  const { result } = await begun.watch(begun.conversation.undoCompaction(), signal);
  if (result.status === "kept") await context.tell(result.reason);
  else if (result.status === "aborted") await context.tell("Interrupted.");
  else
    await printLines(context, [
      compactedText(result.tokensBefore, result.tokensAfter).replace("compacted", "restored"),
    ]);
  return "stay";
}

export async function showCost({ context, current }: SlashCall): Promise<Then> {
  const usage = current.begun?.conversation.usage;
  if (usage === undefined || usage === null) {
    await printLines(context, ["No tokens used yet."]);
    return "stay";
  }
  const { input_tokens: input, cached_input_tokens: cached, output_tokens: output } = usage.total_token_usage;
  const price =
    usage.cost === undefined
      ? "unknown, because the model's price is not known"
      : `$${usage.cost.total_usd.toFixed(4)}`;
  await printLines(context, [
    `Input: ${tokenText(input)} tokens, ${tokenText(cached)} of them cached`,
    `Output: ${tokenText(output)} tokens`,
    `Cost: ${price}`,
  ]);
  return "stay";
}

export async function processes({ context, current, text, screen }: SlashCall): Promise<Then> {
  if (text !== "" && text !== "--all") {
    await context.tell("✗ Unknown argument. Usage: /ps [--all]");
    return "stay";
  }
  if (text === "--all") {
    const { psCommand } = await import("../../commands/control/ps.js");
    await psCommand({ ...context, flags: { ...context.flags, all: true }, args: [] });
    return "stay";
  }
  const own = screen?.conversationLines() ?? [`* ${current.id}  ${current.labels.model}`];
  await printLines(context, own);
  return "stay";
}
