import { type JsonObject, objectsOf, stringOf } from "../json.js";

/** A block and its position in the request. */
export interface PlacedBlock {
  readonly block: JsonObject;
  readonly path: string;
}

export interface Turn {
  readonly role: string;
  /** The index of the turn's first message. */
  readonly index: number;
  readonly blocks: readonly PlacedBlock[];
}

/** Groups messages: the API treats consecutive messages of one role as one turn. */
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
