const withoutReasoning = /^(?:gpt-[34]|chatgpt-|gpt-5[.\d]*-chat)/;

/** Some of OpenAI's models refuse a request that says anything about reasoning, or has some of it in its input. */
export function isReasoningModel(model: string): boolean {
  return !withoutReasoning.test(plainName(model));
}

/** Without the vendor a router puts in front, and without the mark of a tuned one. */
export function plainName(model: string): string {
  return model.slice(model.lastIndexOf("/") + 1).replace(/^ft:/, "");
}
