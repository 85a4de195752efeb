const withoutReasoning = /^(?:gpt-[34]|chatgpt-|gpt-5[.\d]*-chat)/;

/** Some of OpenAI's models reject a request with a reasoning setting or reasoning items. */
export function isReasoningModel(model: string): boolean {
  return !withoutReasoning.test(plainName(model));
}

/** Strips a router's vendor prefix and the prefix of fine-tuned models. */
export function plainName(model: string): string {
  return model.slice(model.lastIndexOf("/") + 1).replace(/^ft:/, "");
}
