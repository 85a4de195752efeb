import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ManagerOptions } from "../../../../src/actors/conversation/open/manager-options.js";
import type {
  ImportedConversation,
  ImportOptions,
} from "../../../../src/actors/conversation/saved/import-conversation.js";
import type { ResponseItem } from "../../../../src/messages/response-item.js";
import { openManager } from "../../../support/open-conversation.js";
import { type JsonLine, rolloutLines } from "../../../support/rollout-lines.js";
import { temporaryFolder } from "../../../support/temporary-folder.js";
import { plain } from "./canonical-conversation.js";

export const importFixtures = fileURLToPath(new URL("../../../fixtures/import/", import.meta.url));

export interface Imported {
  readonly result: ImportedConversation;
  readonly lines: JsonLine[];
}

/** Imports a file into an empty home directory. */
export async function importFile(
  path: string,
  { config, ...options }: ImportOptions & Pick<ManagerOptions, "config"> = {},
): Promise<Imported> {
  const { manager } = await openManager(config === undefined ? {} : { config });
  const result = await manager.importConversation(path, options);
  if (result.status === "exists" || result.status === "here") throw new Error("nothing was imported before");
  return { result, lines: await rolloutLines(result.rolloutPath) };
}

export async function importFixture(name: string): Promise<Imported> {
  return await importFile(join(importFixtures, name));
}

/** Writes lines or raw text to a new file. */
export async function sourceOf(lines: readonly (object | string)[], name = "source.jsonl"): Promise<string> {
  const path = join(await temporaryFolder(), name);
  await writeFile(path, lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join(""));
  return path;
}

/** The items of the lines in order, including those a later compaction removed. */
export function importedItems(lines: readonly JsonLine[]): ResponseItem[] {
  return lines.flatMap(({ type, payload }) => (type === "response_item" ? [payload as unknown as ResponseItem] : []));
}

/** The replacement history of each compaction in the plain form. */
export function replacedHistories(lines: readonly JsonLine[]): unknown[][] {
  return lines.flatMap(({ type, payload }) =>
    type === "compacted" ? [plain(payload["replacement_history"] as ResponseItem[])] : [],
  );
}
