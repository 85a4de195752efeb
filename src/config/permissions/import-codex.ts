import type { RuleDecision, WrittenRule } from "../../messages/tools/permissions.js";

/** A rule of another program, in cody's words, or the reason why it has no equal. */
export type ImportedRule =
  | { readonly ok: true; readonly source: string; readonly decision: RuleDecision; readonly rule: WrittenRule }
  | { readonly ok: false; readonly source: string; readonly reason: string };

const decisions: Readonly<Record<string, RuleDecision>> = { allow: "allow", prompt: "ask", forbidden: "deny" };
const maxAlternatives = 100;

type Value = string | readonly Value[];

/** Reads the `prefix_rule` calls of Codex's rules; other statements are reported. */
export function importCodexRules(text: string): ImportedRule[] {
  const found: ImportedRule[] = [];
  const reader = new CallReader(text);
  for (let call = reader.next(); call !== undefined; call = reader.next()) {
    found.push(
      ...(call.args === undefined
        ? [unmapped(call.text, "it is more than a call with texts and lists")]
        : rulesOf(call.text, call.name, call.args)),
    );
  }
  return found;
}

function unmapped(source: string, reason: string): ImportedRule {
  return { ok: false, source: source.replaceAll(/\s+/g, " ").slice(0, 200), reason };
}

function rulesOf(source: string, name: string, args: ReadonlyMap<string, Value>): ImportedRule[] {
  if (name !== "prefix_rule") return [unmapped(source, `cody has no ${name}`)];
  const pattern = args.get("pattern");
  const written = args.get("decision") ?? "allow";
  const decision = typeof written === "string" ? decisions[written] : undefined;
  const prefixes = Array.isArray(pattern) ? expanded(pattern as readonly Value[]) : undefined;
  if (prefixes === undefined || decision === undefined) return [unmapped(source, "its pattern or decision is unknown")];
  const because = args.get("justification");
  const [match, notMatch] = ["match", "not_match"].map((key) => examplesOf(args.get(key)));
  return prefixes.map((words) => {
    const text = wordsText(words);
    const own = match?.filter((example) => `${example} `.startsWith(`${text} `)) ?? [];
    const rule = {
      rule: `${text} *`,
      ...(own.length === 0 ? {} : { match: own }),
      ...(notMatch === undefined || notMatch.length === 0 ? {} : { notMatch }),
      ...(typeof because === "string" ? { because } : {}),
    };
    return { ok: true, source, decision, rule: Object.keys(rule).length === 1 ? rule.rule : rule };
  });
}

/** Every combination of the alternatives; undefined if there are too many, or a part is not a text. */
function expanded(pattern: readonly Value[]): string[][] | undefined {
  let all: string[][] = [[]];
  for (const part of pattern) {
    const alternatives =
      typeof part === "string" ? [part] : part.filter((each): each is string => typeof each === "string");
    if (alternatives.length === 0) return undefined;
    all = all.flatMap((words) => alternatives.map((word) => [...words, word]));
    if (all.length > maxAlternatives) return undefined;
  }
  return all[0]?.length === 0 ? undefined : all;
}

function examplesOf(value: Value | undefined): string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return (value as readonly Value[]).map((example) =>
    typeof example === "string"
      ? example
      : wordsText(example.filter((word): word is string => typeof word === "string")),
  );
}

/** The words of a command as the text of a rule. */
export function wordsText(words: readonly string[]): string {
  return words
    .map((word) => (/^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`))
    .join(" ");
}

interface Call {
  readonly name: string;
  /** Undefined if an argument is neither a text nor a list of texts. */
  readonly args: ReadonlyMap<string, Value> | undefined;
  readonly text: string;
}

/** Reads the calls of a Starlark file that has nothing but calls with literal arguments. */
class CallReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  next(): Call | undefined {
    this.#skip();
    if (this.#at >= this.#text.length) return undefined;
    const from = this.#at;
    const name = this.#take(/[A-Za-z_]\w*/y);
    const args = name !== "" && this.#isNext("(") ? this.#arguments() : undefined;
    if (args === undefined) {
      // Continue at the next line that begins a statement.
      const end = /\n(?=\S)/g;
      end.lastIndex = this.#at;
      this.#at = end.exec(this.#text) === null ? this.#text.length : end.lastIndex;
    }
    return { name, args, text: this.#text.slice(from, this.#at).trim() };
  }

  #arguments(): ReadonlyMap<string, Value> | undefined {
    const args = new Map<string, Value>();
    while (!this.#isNext(")")) {
      const name = this.#take(/[A-Za-z_]\w*/y);
      if (name === "" || !this.#isNext("=")) return undefined;
      const value = this.#value();
      if (value === undefined) return undefined;
      args.set(name, value);
      if (!this.#isNext(",") && this.#peek() !== ")") return undefined;
    }
    return args;
  }

  #value(): Value | undefined {
    this.#skip();
    if (this.#isNext("[")) {
      const values: Value[] = [];
      while (!this.#isNext("]")) {
        const value = this.#value();
        if (value === undefined) return undefined;
        values.push(value);
        if (!this.#isNext(",") && this.#peek() !== "]") return undefined;
      }
      return values;
    }
    const quoted = this.#take(/"(?:[^"\\\n]|\\["\\nt'])*"|'(?:[^'\\\n]|\\["\\nt'])*'/y);
    if (quoted === "") return undefined;
    const escapes: Readonly<Record<string, string>> = { n: "\n", t: "\t" };
    return quoted.slice(1, -1).replaceAll(/\\(.)/g, (_, char: string) => escapes[char] ?? char);
  }

  #isNext(char: string): boolean {
    if (this.#peek() !== char) return false;
    this.#at += 1;
    return true;
  }

  #peek(): string | undefined {
    this.#skip();
    return this.#text[this.#at];
  }

  #skip(): void {
    this.#take(/(?:\s|#[^\n]*)*/y);
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0] ?? "";
    this.#at += found.length;
    return found;
  }
}
