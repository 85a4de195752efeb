import type { CommandContext } from "../context.js";

/** The current time in milliseconds since 1970. */
export function nowOf({ terminal }: Pick<CommandContext, "terminal">): number {
  return terminal.now?.() ?? Date.now();
}
