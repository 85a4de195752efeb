import type { Random } from "./random.js";

/** How long an answer may be, in characters. It is written in three lines of its turn. */
export interface AnswerLengths {
  readonly shortest: number;
  readonly longest: number;
}

export const variedAnswers: AnswerLengths = { shortest: 20, longest: 300_000 };
/** Answers that take so long to write that a kill can hit in between. */
export const longAnswers: AnswerLengths = { shortest: 200_000, longest: 300_000 };

/** A unique question for the model, which says how long the answer should be. */
export function newQuestion(label: string, random: Random, { shortest, longest } = variedAnswers): string {
  // The accented letters take two bytes, so that a line can be torn within a character.
  return `Élan é ${label}: answer with ${random.magnitude(shortest, longest)} characters`;
}

/** The answer is derived from the question, so a reader of the rollout knows the expected text. */
export function answerTo(question: string): string {
  const length = Number(/answer with (\d+) characters/.exec(question)?.[1] ?? 0);
  return question.repeat(Math.ceil(length / question.length)).slice(0, length);
}
