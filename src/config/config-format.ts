import type * as JsoncParser from "jsonc-parser";
import { InvalidInputError } from "../messages/errors.js";
import { jsonValue } from "../messages/parse.js";
import type { ConfigEdit } from "./config-edits.js";
import type { ConfigName } from "./config-names.js";
import { yamlProblem } from "./yaml-problem.js";

/** How a configuration is written down. What reads and writes the rarer ones is loaded when there is such a file. */
interface ConfigFormat {
  /** What the text says; undefined when it says nothing. Throws an `InvalidInputError` that does not quote it. */
  parse(text: string, name: ConfigName): Promise<unknown>;
  /** The text with these changes, and otherwise as it was. */
  edit(text: string, edits: readonly ConfigEdit[], value: unknown): Promise<string>;
  /** A text that says this and nothing else. */
  write(value: unknown): Promise<string>;
}

const json: ConfigFormat = {
  parse: async (text, name) => jsonValue(text.replace(/^\uFEFF/, ""), name),
  edit: async (_text, _edits, value) => jsonText(value),
  write: async (value) => jsonText(value),
};

const jsonc: ConfigFormat = {
  parse: async (text, name) => {
    const { parse, printParseErrorCode } = await import("jsonc-parser");
    const errors: JsoncParser.ParseError[] = [];
    const source = text.replace(/^\uFEFF/, "");
    const value: unknown = parse(source, errors, { allowTrailingComma: true, allowEmptyContent: true });
    const [first] = errors;
    if (first === undefined) return value;
    const line = source.slice(0, first.offset).split("\n").length;
    throw new InvalidInputError(`${name}: invalid JSON in line ${line}: ${spaced(printParseErrorCode(first.error))}`);
  },
  edit: async (text, edits) => {
    const parser = await import("jsonc-parser");
    const { applyEdits, modify } = parser;
    const formattingOptions = { insertSpaces: true, tabSize: 2, eol: "\n" };
    return edits.reduce(
      (changed, { path, value }) => {
        return applyEdits(changed, modify(changed, [...path], value, { formattingOptions }));
      },
      withoutTrailingCommas(parser, text),
    );
  },
  write: async (value) => jsonText(value),
};

const yaml: ConfigFormat = {
  parse: async (text, name) => {
    const { parseDocument } = await import("yaml");
    const document = parseDocument(text);
    const [first] = document.errors;
    if (first !== undefined) throw new InvalidInputError(`${name}: ${yamlProblem(first)}`);
    try {
      return (document.toJS() as unknown) ?? undefined;
    } catch {
      // What it refers to is not there, or far too often.
      throw new InvalidInputError(`${name}: ${yamlProblem({ code: "BAD_ALIAS" })}`);
    }
  },
  edit: async (text, edits) => {
    const { parseDocument } = await import("yaml");
    const document = parseDocument(text);
    for (const { path, value } of edits) {
      if (value === undefined) document.deleteIn(path);
      // A value of a setting that is there keeps the comment behind it.
      else document.setIn(path, typeof value === "object" ? document.createNode(value) : value);
    }
    return document.toString({ lineWidth: 0 });
  },
  write: async (value) => (await import("yaml")).stringify(value),
};

export const configFormats = {
  "config.json": json,
  "config.jsonc": jsonc,
  "config.yaml": yaml,
  "config.yml": yaml,
} satisfies Record<ConfigName, ConfigFormat>;

/** Whoever takes out the last setting of a table would leave the comma behind it alone. */
function withoutTrailingCommas({ visit }: typeof JsoncParser, text: string): string {
  const commas: number[] = [];
  let last: number | undefined;
  const begin = () => (last = undefined);
  const end = () => {
    if (last !== undefined) commas.push(last);
    last = undefined;
  };
  const visitor: JsoncParser.JSONVisitor = {
    onSeparator: (character, offset) => (last = character === "," ? offset : undefined),
    onObjectProperty: begin,
    onObjectBegin: begin,
    onArrayBegin: begin,
    onLiteralValue: begin,
    onObjectEnd: end,
    onArrayEnd: end,
  };
  visit(text, visitor, { allowTrailingComma: true });
  return commas.toReversed().reduce((left, offset) => left.slice(0, offset) + left.slice(offset + 1), text);
}

/** `ValueExpected` as words. */
function spaced(code: string): string {
  return code.replaceAll(/(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase();
}

function jsonText(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
