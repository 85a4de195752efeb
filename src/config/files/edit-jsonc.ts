import type * as JsoncParser from "jsonc-parser";
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

const indentStep = "  ";

/** Applies the edits to the text. Every other setting, and every comment on a line of its own, stays where it was. */
export function editJsonc(parser: typeof JsoncParser, text: string, edits: readonly ConfigEdit[]): string {
  return edits.reduce((changed, edit) => edited(parser, changed, edit), text);
}

function edited(parser: typeof JsoncParser, text: string, { path, value }: ConfigEdit): string {
  const { parseTree, findNodeAtLocation } = parser;
  const root = parseTree(text, [], { allowTrailingComma: true, allowEmptyContent: true });
  if (root === undefined) {
    return value === undefined ? text : `${endedLine(text)}${written(nested(path, value))}\n`;
  }
  const marks = marksOf(parser, text);
  const property = findNodeAtLocation(root, [...path])?.parent;
  if (property !== undefined) {
    return value === undefined ? without(text, rangeOf(property), marks) : withValue(text, property, value, marks);
  }
  const above = path.map((_, index) => findNodeAtLocation(root, path.slice(0, index)));
  const depth = above.findLastIndex((node) => node?.type === "object");
  const [table, name = ""] = [above[depth], path[depth]];
  if (value === undefined || table === undefined) return text;
  return withProperty(text, table, `${written(name)}: ${written(nested(path.slice(depth + 1), value))}`, marks);
}

/** The comments and commas between settings. */
interface Marks {
  readonly comments: readonly TextRange[];
  readonly commas: readonly number[];
}

function marksOf({ visit }: typeof JsoncParser, text: string): Marks {
  const comments: TextRange[] = [];
  const commas: number[] = [];
  const visitor: JsoncParser.JSONVisitor = {
    onComment: (from, length) => void comments.push({ from, to: from + length }),
    onSeparator: (character, offset) => void (character === "," && commas.push(offset)),
  };
  visit(text, visitor, { allowTrailingComma: true });
  return { comments, commas };
}

function without(text: string, { from, to }: TextRange, marks: Marks): string {
  const { comments, commas } = marks;
  const trailingComma = commas.find((comma) => comma >= to && isOnlyComments(text, { from: to, to: comma }, marks));
  const end = trailingComma === undefined ? to : trailingComma + 1;
  const first = lineStart(text, from);
  // A comment after the setting on the same line is removed with it.
  const isWhole =
    isBlank(text.slice(first, from)) && isOnlyComments(text, { from: end, to: lineEnd(text, end) }, marks);
  const range = isWhole ? { from: first, to: nextLine(text, end) } : { from, to: end };
  const left = replaced(text, range, commentLines(text, range, comments));
  const before = commas.findLast((comma) => comma < from && isOnlyComments(text, { from: comma + 1, to: from }, marks));
  return trailingComma !== undefined || before === undefined
    ? left
    : replaced(left, { from: before, to: before + 1 }, "");
}

function withValue(text: string, property: JsoncParser.Node, value: unknown, { comments }: Marks): string {
  const range = rangeOf(property.children?.[1] ?? property);
  const below = nextLine(text, range.to);
  const withComments = replaced(text, { from: below, to: below }, commentLines(text, range, comments));
  return replaced(withComments, range, indented(written(value), indentationAt(text, property.offset)));
}

function withProperty(text: string, table: JsoncParser.Node, entry: string, marks: Marks): string {
  const last = table.children?.at(-1);
  if (last === undefined) return withFirst(text, table, entry);
  const { to } = rangeOf(last);
  const comma = marks.commas.find((offset) => offset >= to && isOnlyComments(text, { from: to, to: offset }, marks));
  const lineFrom = comma === undefined ? to : comma + 1;
  const end = lineEnd(text, lineFrom);
  const indentation = indentationAt(text, last.offset);
  const added = indented(entry, indentation) + (comma === undefined ? "" : ",");
  // Goes below a comment that follows the last setting on its line, since that comment is not about the new setting.
  const withEntry = isOnlyComments(text, { from: lineFrom, to: end }, marks)
    ? replaced(text, { from: end, to: end }, `\n${indentation}${added}`)
    : replaced(text, { from: lineFrom, to: lineFrom }, ` ${added}`);
  return comma === undefined ? replaced(withEntry, { from: to, to }, ",") : withEntry;
}

function withFirst(text: string, table: JsoncParser.Node, entry: string): string {
  const brace = table.offset + table.length - 1;
  const outer = indentationAt(text, table.offset);
  const added = outer + indentStep + indented(entry, outer + indentStep);
  const first = lineStart(text, brace);
  return isBlank(text.slice(first, brace))
    ? replaced(text, { from: first, to: first }, `${added}\n`)
    : replaced(text, { from: brace, to: brace }, `\n${added}\n${outer}`);
}

/** Whether a range contains only whitespace and complete comments. */
function isOnlyComments(text: string, { from, to }: TextRange, { comments }: Marks): boolean {
  const within = comments.filter((comment) => comment.from >= from && comment.to <= to);
  const rest = within.reduceRight((left, comment) => replaced(left, comment, ""), text.slice(0, to));
  return isBlank(rest.slice(from));
}

function rangeOf({ offset, length }: JsoncParser.Node): TextRange {
  return { from: offset, to: offset + length };
}

function nested(path: readonly string[], value: unknown): unknown {
  return path.reduceRight<unknown>((inner, part) => ({ [part]: inner }), value);
}

function written(value: unknown): string {
  return JSON.stringify(value, null, indentStep);
}
