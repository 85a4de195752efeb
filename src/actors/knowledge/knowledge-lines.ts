import { KnowledgeEntry } from "../../messages/knowledge.js";

const maxLineChars = 64 * 1024;

/** A line of a knowledge file, with what it says if it is one. */
export interface KnowledgeLine {
  readonly text: string;
  /** Counted from 1. */
  readonly number: number;
  readonly entry: KnowledgeEntry | undefined;
}

/** The lines of a file that hold something. What is no entry stays a line: it may be somebody's. */
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
