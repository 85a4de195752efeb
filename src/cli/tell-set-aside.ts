import type { SavedConfig } from "../config/save-config.js";
import type { CommandContext } from "./context.js";

export async function tellSetAside(context: CommandContext, { setAside }: SavedConfig): Promise<void> {
  if (setAside !== undefined) await context.tell(`config.json was damaged: the old one is kept in ${setAside}`);
}
