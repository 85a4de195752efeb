const taking = /^gpt-5(?![.\d]*-chat)/;

/**
 * Whether a model supports tools with plain-text input. GPT-5 introduced them; a name with a vendor prefix belongs to a
 * router, and few routers support such tools.
 */
export function supportsCustomTools(model: string): boolean {
  return taking.test(model);
}
