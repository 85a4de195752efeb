import type { CommandContext } from "../context.js";

/** The current time in milliseconds since 1970. */
export function currentTime({ terminal }: Pick<CommandContext, "terminal">): number {
  return terminal.now?.() ?? Date.now();
}
