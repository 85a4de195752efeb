/** One thing the user said about themselves, in their words. */
export interface Fact {
  readonly subject: string;
  readonly said: string;
}

const maxReadChars = 20_000;
const maxSentenceChars = 500;
const question = /\?\s*$|^(?:do|did|tell|remind|which)\b|\b(?:what|where|who)(?:['’]?s| is| was| do| did| am| are)\b/i;
const nextClause = /(?:\s+(?:and|but)|,)\s+(?=(?:my|i)\s)/i;

export function sentencesOf(text: string): string[] {
  const sentences = text.slice(0, maxReadChars).split(/(?<=[.!?;])\s+|\n+/);
  return sentences.map((sentence) => sentence.slice(0, maxSentenceChars).trim()).filter((sentence) => sentence !== "");
}

export const isQuestion = (sentence: string): boolean => question.test(sentence);

export function factsIn(text: string): Fact[] {
  const statements = sentencesOf(text).filter((sentence) => !isQuestion(sentence));
  return statements.flatMap((sentence) => sentence.split(nextClause).flatMap(factIn));
}

/** What a question wants to know about the user: `name` in "What did I tell you my name was?". */
export function subjectAsked(sentence: string): string | undefined {
  if (!isQuestion(sentence)) return undefined;
  if (/\bwho am i\b/i.test(sentence)) return "name";
  const verb = /\bdo i (live|work|study)\b/i.exec(sentence)?.[1];
  const subject = /\bmy ([a-z][a-z' -]*?)(?:\s+(?:is|was|are|were))?\s*[?.!]*$/i.exec(sentence)?.[1];
  return verb?.toLowerCase() ?? (subject === undefined ? undefined : normal(subject));
}

/** The newest fact about a subject; "name again" still finds the name. */
export function recall(facts: readonly Fact[], subject: string): Fact | undefined {
  return facts.findLast((fact) => `${subject} `.startsWith(`${fact.subject} `));
}

export const asTold = ({ said }: Fact): string => said.replaceAll(/\bmy\b/gi, "your").replace(/^i\b/i, "you");

function factIn(clause: string): Fact[] {
  const match = /\b(?:my ([a-z][a-z' -]{0,60}?) (?:is|are|was|were)|i (live|work|study) \w+) \S.*$/i.exec(clause);
  const subject = match?.[1] ?? match?.[2];
  return subject === undefined ? [] : [{ subject: normal(subject), said: match?.[0].replace(/[\s.!;,]+$/, "") ?? "" }];
}

function normal(subject: string): string {
  return subject.trim().toLowerCase().replaceAll("favorite", "favourite").replaceAll("color", "colour");
}
