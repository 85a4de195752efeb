import type * as JsoncParser from "jsonc-parser";

/** What is wrong, in the words of somebody who looks at that place; the library's own are names of its code. */
const words: Readonly<Record<string, string>> = {
  InvalidSymbol: "a text stands in double quotes",
  InvalidNumberFormat: "this is no number",
  PropertyNameExpected: "the name of a setting is missing, or there is a comma too many before it",
  ValueExpected: "a value is missing, or there is a comma too many before it",
  ColonExpected: "a colon is missing before it",
  CommaExpected: "a comma is missing before it",
  CloseBraceExpected: "a } is missing",
  CloseBracketExpected: "a ] is missing",
  EndOfFileExpected: "there is something behind the last }",
  InvalidCommentToken: "comments are for config.jsonc: give the file that name",
  UnexpectedEndOfComment: "a comment has no end",
  UnexpectedEndOfString: "a text has no closing quote",
  InvalidEscapeCharacter: "in a text a backslash is written twice",
};

/** The first thing that is wrong with a JSON text, and where; nothing of it is quoted, since there may be keys in it. */
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
  return offset === undefined ? undefined : problemAt(text, offset, "a key stands there twice");
}

/** Where a key stands that its table has already: the parser takes the last one, and says nothing. */
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
