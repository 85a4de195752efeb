import { basename } from "node:path";
import type { SavedConfig } from "../config/save-config.js";
import type { CommandContext } from "./context.js";

export async function tellSetAside(context: CommandContext, { setAside }: SavedConfig): Promise<void> {
  if (setAside === undefined) return;
  await context.tell(`${basename(setAside, ".invalid")} was damaged: the old one is kept in ${setAside}`);
}
