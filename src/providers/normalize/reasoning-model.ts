const withoutReasoning = /^(?:gpt-[34]|chatgpt-4)/;

/** OpenAI's older models refuse a request that says anything about reasoning, or has some of it in its input. */
export function isReasoningModel(model: string): boolean {
  return !withoutReasoning.test(model.slice(model.lastIndexOf("/") + 1));
}
