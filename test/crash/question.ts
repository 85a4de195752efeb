import type { Random } from "./random.js";

/** How long an answer may be, in characters. It stands in three lines of its turn. */
export interface AnswerLengths {
  readonly shortest: number;
  readonly longest: number;
}

export const variedAnswers: AnswerLengths = { shortest: 20, longest: 300_000 };
/** It takes so long to write these that a kill has a chance to come between. */
export const longAnswers: AnswerLengths = { shortest: 200_000, longest: 300_000 };

/** What a child asks its model: its own like nowhere else, and it says how long the answer shall be. */
export function newQuestion(label: string, random: Random, { shortest, longest } = variedAnswers): string {
  // The accents make characters of two bytes, so that a line can be torn within one.
  return `Élan é ${label}: answer with ${random.magnitude(shortest, longest)} characters`;
}

/** The whole answer follows from the question, so whoever reads a rollout knows what must stand there. */
export function answerTo(question: string): string {
  const length = Number(/answer with (\d+) characters/.exec(question)?.[1] ?? 0);
  return question.repeat(Math.ceil(length / question.length)).slice(0, length);
}
