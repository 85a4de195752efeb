import type * as JsoncParser from "jsonc-parser";

/** Describes each problem for a person who edits the file; the library only has the names of its error codes. */
const words: Readonly<Record<string, string>> = {
  InvalidSymbol: "text must be in double quotes",
  InvalidNumberFormat: "invalid number",
  PropertyNameExpected: "the name of a setting is missing, or there is an extra comma before it",
  ValueExpected: "a value is missing, or there is an extra comma before it",
  ColonExpected: "a colon is missing before it",
  CommaExpected: "a comma is missing before it",
  CloseBraceExpected: "a } is missing",
  CloseBracketExpected: "a ] is missing",
  EndOfFileExpected: "unexpected text after the last }",
  InvalidCommentToken: "comments are only allowed in config.jsonc: rename the file",
  UnexpectedEndOfComment: "a comment is not closed",
  UnexpectedEndOfString: "a string has no closing quote",
  InvalidEscapeCharacter: "invalid escape: write a backslash in a string twice",
};

/** Describes the first problem of a JSON text and its position. Quotes nothing, since the text may contain API keys. */
export function jsonProblem(
  parser: typeof JsoncParser,
  text: string,
  errors: readonly JsoncParser.ParseError[],
): string | undefined {
  const [first] = errors;
  if (first !== undefined) {
    return problemAt(text, first.offset, words[parser.printParseErrorCode(first.error)] ?? "it cannot be read");
  }
  const offset = secondOf(parser, text);
  return offset === undefined ? undefined : problemAt(text, offset, "duplicate key");
}

/** Finds the offset of the first duplicate key: the parser silently uses the last one. */
function secondOf({ visit }: typeof JsoncParser, text: string): number | undefined {
  const tables: Set<string>[] = [];
  let second: number | undefined;
  visit(text, {
    onObjectBegin: () => void tables.push(new Set()),
    onObjectProperty: (name, offset) => {
      const keys = tables.at(-1);
      if (keys?.has(name) === true) second ??= offset;
      keys?.add(name);
    },
    onObjectEnd: () => void tables.pop(),
  });
  return second;
}

function problemAt(text: string, offset: number, what: string): string {
  return `invalid JSON in ${placeIn(text, offset)}: ${what}`;
}

function placeIn(text: string, offset: number): string {
  const lines = text.slice(0, offset).split("\n");
  return `line ${lines.length}, column ${(lines.at(-1) ?? "").length + 1}`;
}
