/** An argument of a process cannot hold it. */
const marker = "\0";

/**
 * Arguments in a form in which cac leaves them alone: it would read numbers, take `true` behind a boolean flag for its
 * value, a lone dash for a flag, and whatever stands behind a boolean flag of two words for its value.
 */
export function mark(argv: readonly string[]): string[] {
  const dashes = argv.indexOf("--");
  const end = dashes === -1 ? argv.length : dashes;
  return argv.map((argument, index) => (index < end ? markOne(argument) : argument));
}

export function unmark(text: string): string {
  return text.startsWith(marker) ? text.slice(marker.length) : text;
}

function markOne(argument: string): string {
  const [, flag, value] = /^(--?[^=]+=)([^]*)$/.exec(argument) ?? [];
  if (flag !== undefined && value !== undefined) return flag + marker + value;
  if (/^--(?!no-)[a-z]+(?:-[a-z]+)+$/.test(argument)) return camelCased(argument);
  return isChanged(argument) ? marker + argument : argument;
}

function camelCased(flag: string): string {
  return `--${flag.slice(2).replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())}`;
}

function isChanged(argument: string): boolean {
  if (argument === "-" || argument === "true" || argument === "false") return true;
  return !argument.startsWith("-") && Number.isFinite(Number(argument));
}
