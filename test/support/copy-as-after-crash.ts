import { copyFile, mkdir } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Conversation } from "../../src/actors/conversation/handle.js";
import { temporaryFolder } from "./temporary-folder.js";

/** Copies the conversation to a home as a process killed right now would leave it. */
export async function copyAsAfterCrash(conversation: Conversation): Promise<string> {
  await conversation.flush();
  const home = await temporaryFolder();
  const path = conversation.rolloutPath ?? "";
  await mkdir(join(home, "conversations"));
  await copyFile(path, join(home, "conversations", basename(path)));
  return home;
}
