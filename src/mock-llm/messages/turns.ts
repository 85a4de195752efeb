import { type JsonObject, objectsOf, stringOf } from "../json.js";

/** A block and where the client wrote it. */
export interface PlacedBlock {
  readonly block: JsonObject;
  readonly path: string;
}

export interface Turn {
  readonly role: string;
  /** The first message of the turn. */
  readonly index: number;
  readonly blocks: readonly PlacedBlock[];
}

/** Messages of one role in a row are one turn to the API. */
export function turnsOf(messages: readonly JsonObject[]): Turn[] {
  const turns: { role: string; index: number; blocks: PlacedBlock[] }[] = [];
  for (const [index, message] of messages.entries()) {
    const role = stringOf(message["role"]);
    const blocks = blocksOf(message).map((block, place) => ({ block, path: `messages.${index}.content.${place}` }));
    const last = turns.at(-1);
    if (last?.role === role) last.blocks.push(...blocks);
    else turns.push({ role, index, blocks });
  }
  return turns;
}

export function blocksOf({ content }: JsonObject): JsonObject[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : objectsOf(content);
}
