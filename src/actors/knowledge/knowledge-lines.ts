import { KnowledgeEntry } from "../../messages/tools/knowledge.js";

const maxLineChars = 64 * 1024;

/** A line of a knowledge file, with its entry if it is valid. */
export interface KnowledgeLine {
  readonly text: string;
  /** Starts at 1. */
  readonly number: number;
  readonly entry: KnowledgeEntry | undefined;
}

/** The non-empty lines of a file. A line without a valid entry is kept, because it may belong to someone. */
export function knowledgeLines(text: string): KnowledgeLine[] {
  return text
    .split("\n")
    .map((line, index) => ({ text: line, number: index + 1 }))
    .filter((line) => line.text.trim() !== "")
    .map((line) => ({ ...line, entry: entryIn(line.text) }));
}

export function knowledgeLine(entry: KnowledgeEntry): string {
  return `${JSON.stringify(entry)}\n`;
}

function entryIn(line: string): KnowledgeEntry | undefined {
  if (line.length > maxLineChars) return undefined;
  try {
    return KnowledgeEntry.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}
