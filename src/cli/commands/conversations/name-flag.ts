import { conversationName } from "../../../base/text/conversation-name.js";
import { usageError } from "../../command-error.js";
import type { SharedContext } from "../../context.js";

/** The name of a new conversation from --name; existing ones are renamed with `cody rename`. */
export function nameFlag({ flags }: SharedContext<"name" | "resume" | "continue">): { readonly name?: string } {
  if (flags.name === undefined) return {};
  if (flags.resume !== undefined || flags.continue === true) {
    throw usageError("--name is only for a new conversation", "To rename one: cody rename <id> <name>");
  }
  return { name: conversationName(flags.name) };
}
