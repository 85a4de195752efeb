import type * as Yaml from "yaml";
import {
  type ConfigEdit,
  commentLines,
  endedLine,
  indentationAt,
  indented,
  isBlank,
  lineEnd,
  lineStart,
  nextLine,
  replaced,
  type TextRange,
} from "./config-edits.js";

/** Control characters that the lexer emits between tokens; they are not part of the text. */
const marks = new Set(["\u0002", "\u0018", "\u001f"]);

/**
 * Applies the edits to the text. Every other setting, and every comment on a line of its own, stays where it was.
 * Returns undefined if a setting to change is not written in block style, one per line.
 */
export function editYaml(yaml: typeof Yaml, text: string, edits: readonly ConfigEdit[]): string | undefined {
  // Removals come last: removing the only setting of a table turns it into null, and nothing could be added to it
  // afterwards.
  const ordered = edits.toSorted((one, other) => Number(one.value === undefined) - Number(other.value === undefined));
  return ordered.reduce<string | undefined>(
    (changed, edit) => (changed === undefined ? undefined : edited(yaml, changed, edit)),
    text,
  );
}

function edited(yaml: typeof Yaml, text: string, { path, value }: ConfigEdit): string | undefined {
  const { contents } = yaml.parseDocument(text);
  if (contents === null) return value === undefined ? text : endedLine(text) + block(yaml, path, value);
  const found = placeOf(yaml, contents, path);
  if (found === undefined) return undefined;
  const { table, depth, pair } = found;
  if (pair === undefined) return value === undefined ? text : withPair(yaml, text, table, path.slice(depth), value);
  const lines = linesOf(yaml, text, pair);
  if (lines === undefined) return undefined;
  const keptComments = commentLines(text, lines, commentsOf(yaml, text));
  return replaced(text, lines, (value === undefined ? "" : pairLine(yaml, text, pair, value)) + keptComments);
}

interface Place {
  readonly table: Yaml.YAMLMap;
  /** The number of path segments that lead to the table. */
  readonly depth: number;
  /** The setting itself, if it exists. */
  readonly pair: Yaml.Pair | undefined;
}

/** Finds the innermost table on the path that exists. */
function placeOf({ isMap, isScalar }: typeof Yaml, contents: Yaml.Node, path: readonly string[]): Place | undefined {
  let table: unknown = contents;
  for (const [depth, name] of path.entries()) {
    if (!isMap(table) || table.flow === true) return undefined;
    const pair: Yaml.Pair | undefined = table.items.find(({ key }) => isScalar(key) && key.value === name);
    if (pair === undefined || depth === path.length - 1) return { table, depth, pair };
    table = pair.value;
  }
  return undefined;
}

function linesOf({ isNode }: typeof Yaml, text: string, { key, value }: Yaml.Pair): TextRange | undefined {
  const [start, keyEnd] = (isNode(key) && key.range) || [];
  if (start === undefined || keyEnd === undefined) return undefined;
  const from = lineStart(text, start);
  if (!isBlank(text.slice(from, start))) return undefined;
  const end = Math.max(keyEnd, (isNode(value) && value.range?.[1]) || 0);
  // After a comment, the range of a table includes the indentation of the next line.
  const endLine = lineStart(text, end);
  return { from, to: isBlank(text.slice(endLine, end)) ? endLine : nextLine(text, end) };
}

/** Keeps the comment that follows the setting on its line. */
function pairLine(yaml: typeof Yaml, text: string, pair: Yaml.Pair, value: unknown): string {
  const { from = 0 } = linesOf(yaml, text, pair) ?? {};
  const end = lineEnd(text, from);
  const comment = commentsOf(yaml, text).find((one) => one.from >= from && one.from < end);
  const trailingComment =
    comment === undefined ? "" : /[ \t]*$/.exec(text.slice(0, comment.from))?.[0] + text.slice(comment.from, end);
  const colon = text.indexOf(":", (yaml.isNode(pair.key) && pair.key.range?.[1]) || from);
  return `${text.slice(from, colon)}: ${inline(yaml, value)}${trailingComment}\n`;
}

function withPair(
  yaml: typeof Yaml,
  text: string,
  table: Yaml.YAMLMap,
  path: readonly string[],
  value: unknown,
): string | undefined {
  const lines = table.items.map((pair) => linesOf(yaml, text, pair));
  const last = lines.at(-1);
  const [first] = lines;
  if (first === undefined || last === undefined) return undefined;
  const indentation = indentationAt(text, lineEnd(text, first.from));
  const added = indentation + indented(block(yaml, path, value).trimEnd(), indentation);
  return `${endedLine(text.slice(0, last.to))}${added}\n${text.slice(last.to)}`;
}

function block({ stringify }: typeof Yaml, path: readonly string[], value: unknown): string {
  const nested = path.reduceRight<unknown>((inner, part) => ({ [part]: inner }), value);
  return stringify(nested, { lineWidth: 0 });
}

/** Writes a value on one line, as JSON if YAML would need several. */
function inline({ stringify }: typeof Yaml, value: unknown): string {
  const text = stringify(value, { lineWidth: 0, collectionStyle: "flow" }).trimEnd();
  return text.includes("\n") ? JSON.stringify(value) : text;
}

function commentsOf({ Lexer }: typeof Yaml, text: string): TextRange[] {
  const comments: TextRange[] = [];
  let from = 0;
  let before = "";
  for (const found of new Lexer().lex(text)) {
    const isMark = marks.has(found);
    // The token after this mark is a scalar, even if it starts with `#`.
    if (found.startsWith("#") && before !== "\u001f") comments.push({ from, to: from + found.length });
    if (!isMark) from += found.length;
    before = found;
  }
  return comments;
}
