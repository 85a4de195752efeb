/** How a shell would be given a patch; group 2 is the word that ends it. */
const heredoc = /^(?:apply_patch\s+)?<<-?\s*(["']?)(\w+)\1$/;

/** The lines of a patch, without the command that some models write around it. */
export function unwrapped(input: string): string[] {
  const lines = input.trim().split(/\r?\n/);
  const word = heredoc.exec(lines[0]?.trim() ?? "")?.[2];
  return word !== undefined && lines.at(-1)?.trim() === word ? lines.slice(1, -1) : lines;
}
