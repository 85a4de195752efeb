export interface PromptArgument {
  readonly name: string;
  readonly isRequired: boolean;
}

export interface ParsedArguments {
  readonly values: Readonly<Record<string, string>>;
  /** Required arguments that were not given. */
  readonly missing: readonly string[];
  /** Text that belongs to no argument; empty if there is none. */
  readonly excess: string;
}

interface Word {
  readonly name: string | undefined;
  readonly value: string;
  readonly isQuoted: boolean;
  readonly text: string;
}

/**
 * Parses `name=value` words; values with blanks are quoted. Text without a name is for the first argument that was not
 * named; several quoted words are for several arguments, in order.
 */
export function parsePromptArguments(text: string, known: readonly PromptArgument[]): ParsedArguments {
  const words = wordsOf(text, new Set(known.map(({ name }) => name)));
  const named = words.flatMap(({ name, value }) => (name === undefined ? [] : [[name, value] as const]));
  const others = words.filter(({ name }) => name === undefined);
  const taken = new Set(named.map(([name]) => name));
  const free = known.filter(({ name }) => !taken.has(name));
  const unnamed = others.every(({ isQuoted }) => isQuoted)
    ? others.map(({ value }) => value)
    : [others.map((word) => word.text).join(" ")];
  const values = [...named, ...free.slice(0, unnamed.length).map(({ name }, at) => [name, unnamed[at] ?? ""] as const)];
  const given = new Set(values.map(([name]) => name));
  return {
    values: Object.fromEntries(values),
    missing: known.filter(({ name, isRequired }) => isRequired && !given.has(name)).map(({ name }) => name),
    excess: unnamed.slice(free.length).join(" "),
  };
}

/** The usage line of a prompt. */
export function promptUsage(command: string, known: readonly PromptArgument[]): string {
  const told = known.map(({ name, isRequired }) => (isRequired ? `${name}="…"` : `[${name}="…"]`));
  return [`/${command}`, ...told].join(" ");
}

function wordsOf(text: string, names: ReadonlySet<string>): Word[] {
  const found = text.matchAll(/(?:([^\s="']+)=)?(?:"((?:[^"\\]|\\.)*)"(?!\S)|'([^']*)'(?!\S)|(\S*))/g);
  return [...found].flatMap(([whole, name, double, single, plain = ""]): Word[] => {
    if (whole === "") return [];
    const quoted = double?.replaceAll(/\\(["\\])/g, "$1") ?? single;
    const isKnown = name !== undefined && names.has(name);
    if (name !== undefined && !isKnown) return [{ name: undefined, value: whole, isQuoted: false, text: whole }];
    return [{ name, value: quoted ?? plain, isQuoted: quoted !== undefined, text: whole }];
  });
}
