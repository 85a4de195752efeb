import { type JsonObject, objectsOf, stringOf } from "../json.js";
import { digest } from "../signatures.js";

// The real API detects whether the thinking blocks that led to a call came back unchanged. The mock encodes their
// digest in the call's id.
const idAfterThinking = /_t(\d+)_([\w-]{16})$/;

/** A block and its position in the request. */
interface PlacedBlock {
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

/** The id of a call that these thinking blocks led to. */
export function toolUseIdAfter(id: string, thoughts: readonly JsonObject[]): string {
  return thoughts.length === 0 ? id : `${id}_t${thoughts.length}_${digestOf(thoughts)}`;
}

/** Whether the last thinking blocks before a call are those that led to it. */
export function followsThinking(id: string, thoughts: readonly JsonObject[]): boolean {
  const [, count, seen] = idAfterThinking.exec(id) ?? [];
  return count === undefined || digestOf(thoughts.slice(-Number(count))) === seen;
}

function digestOf(thoughts: readonly JsonObject[]): string {
  const opaque = thoughts.map(({ type, signature, data }) => [type, signature ?? data]);
  return digest(JSON.stringify(opaque)).slice(0, 16);
}
