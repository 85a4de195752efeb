import { conversationName } from "../../../messages/conversation-name.js";
import { usageError } from "../../command-error.js";
import type { CommandContext } from "../../context.js";

/** How a new conversation shall be called; what is there already has a command of its own for it. */
export function nameOf({ flags }: CommandContext): { readonly name?: string } {
  if (flags.name === undefined) return {};
  if (flags.resume !== undefined || flags.continue) {
    throw usageError("--name is for a new conversation", "To rename one: cody rename <id> <name>");
  }
  return { name: conversationName(flags.name) };
}
