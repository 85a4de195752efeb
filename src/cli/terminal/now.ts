import type { CommandContext } from "../context.js";

/** What time it is, in milliseconds since 1970. */
export function nowOf({ terminal }: Pick<CommandContext, "terminal">): number {
  return terminal.now?.() ?? Date.now();
}
