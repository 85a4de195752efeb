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
  /** How a text is changed and is otherwise as it was: what keeps the most of it comes first, and what cannot says nothing. */
  readonly ways: readonly Way[];
  /** A text that says this and nothing else. */
  write(value: unknown): Promise<string>;
}

type Way = (text: string, edits: readonly ConfigEdit[], value: unknown) => Promise<string | undefined>;

const json: ConfigFormat = {
  parse: async (text, name) => jsonValue(text.replace(/^\uFEFF/, ""), name),
  ways: [async (_text, _edits, value) => jsonText(value)],
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
  ways: [
    async (text, edits) => {
      const [parser, { editJsonc }] = await Promise.all([import("jsonc-parser"), import("./edit-jsonc.js")]);
      return asWritten(text, (plain) => editJsonc(parser, plain, edits));
    },
  ],
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
  ways: [
    async (text, edits) => {
      const [library, { editYaml }] = await Promise.all([import("yaml"), import("./edit-yaml.js")]);
      return asWritten(text, (plain) => editYaml(library, plain, edits));
    },
    async (text, edits) => {
      const { parseDocument } = await import("yaml");
      const document = parseDocument(text);
      for (const { path, value } of edits) {
        if (value === undefined) document.deleteIn(path);
        else document.setIn(path, typeof value === "object" ? document.createNode(value) : value);
      }
      return document.toString({ lineWidth: 0 });
    },
  ],
  write: async (value) => (await import("yaml")).stringify(value),
};

export const configFormats = {
  "config.json": json,
  "config.jsonc": jsonc,
  "config.yaml": yaml,
  "config.yml": yaml,
} satisfies Record<ConfigName, ConfigFormat>;

/** With the mark at its beginning and the line breaks it had. */
function asWritten(text: string, change: (plain: string) => string | undefined): string | undefined {
  const [mark = ""] = /^\uFEFF?/.exec(text) ?? [];
  const hasReturns = text.includes("\r\n");
  const changed = change(text.slice(mark.length).replaceAll("\r\n", "\n"));
  return changed === undefined ? undefined : mark + (hasReturns ? changed.replaceAll("\n", "\r\n") : changed);
}

/** `ValueExpected` as words. */
function spaced(code: string): string {
  return code.replaceAll(/(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase();
}

function jsonText(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
