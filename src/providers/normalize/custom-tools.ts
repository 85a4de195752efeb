const taking = /^gpt-5(?![.\d]*-chat)/;

/**
 * Whether a model takes tools whose input is plain text. They came with GPT-5; a name with a vendor before it is that of
 * a router, and few of those know such tools.
 */
export function takesCustomTools(model: string): boolean {
  return taking.test(model);
}
