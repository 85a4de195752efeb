import { factsIn, isQuestion, sentencesOf } from "./memory.js";

const maxQuoteChars = 160;
const maxLines = 5;
const decision = /\b(?:decided?|let['’]?s use|we(?:['’]ll| will) use|going with|chose|instead of)\b/i;
const fileName = /^[\w@~./-]*[\w-]\.[A-Za-z]{1,8}$/;

/** A summary by extraction: nothing in it was not said. `told` is what the user said, earlier summaries included. */
export function extractSummary(told: readonly string[], answers: readonly string[]): string {
  const earlierGoal = told.flatMap((text) => /^## Goal\n(.+)$/m.exec(text)?.[1] ?? []).at(0);
  const requests = told.filter((text) => !text.includes("## Goal\n"));
  const sentences = [...told, ...answers].flatMap(sentencesOf);
  const facts = new Map(told.flatMap(factsIn).map((fact) => [fact.subject, fact.said]));
  const files = [...new Set(sentences.flatMap(filesIn))].slice(-4 * maxLines);
  return [
    `## Goal\n${quote(earlierGoal ?? requests[0] ?? "Nothing was asked yet.")}`,
    `## Progress\n${list(requests.map((text) => `The user said: ${quote(text)}`))}`,
    `## Key Decisions\n${list(sentences.filter((sentence) => decision.test(sentence) && !isQuestion(sentence)))}`,
    `## Next Steps\n${list(requests.slice(-1).map((text) => `Go on from: ${quote(text)}`))}`,
    `## Critical Context\n${list([...facts.values()])}\n- Files named: ${files.join(" ") || "none"}`,
  ].join("\n\n");
}

function list(lines: readonly string[]): string {
  const newest = [...new Set(lines.map((line) => quote(line.replace(/^- /, ""))))].slice(-maxLines);
  return newest.length === 0 ? "- none" : newest.map((line) => `- ${line}`).join("\n");
}

function quote(text: string): string {
  const start = text.slice(0, maxQuoteChars).replaceAll(/\s+/g, " ").trim();
  return text.length > maxQuoteChars ? `${start}…` : start;
}

function filesIn(sentence: string): string[] {
  const words = sentence.split(/[\s"'`(),;:]+/).map((word) => word.replace(/[.?!]+$/, ""));
  return words.filter((word) => fileName.test(word));
}
