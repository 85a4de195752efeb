import type * as JsoncParser from "jsonc-parser";
import { InvalidInputError } from "../../messages/errors.js";
import { jsonOrUndefined } from "../../messages/parse.js";
import type { ConfigEdit } from "./config-edits.js";
import type { ConfigName } from "../settings/config-names.js";
import { hasDoubledKey } from "./doubled-keys.js";
import { yamlProblem } from "./yaml-problem.js";

/** How a configuration is written down. What reads and writes the rarer ones is loaded when there is such a file. */
interface ConfigFormat {
  /** What the text says; undefined when it says nothing. Throws an `InvalidInputError` that does not quote it. */
  parse(text: string, name: string): Promise<unknown>;
  /** How a text is changed and is otherwise as it was: what keeps the most of it comes first, and what cannot says nothing. */
  readonly ways: readonly Way[];
  /** A text that says this and nothing else. */
  write(value: unknown): Promise<string>;
}

type Way = (text: string, edits: readonly ConfigEdit[], value: unknown) => Promise<string | undefined>;

const json: ConfigFormat = {
  parse: async (text, name) => {
    const source = text.replace(/^\uFEFF/, "");
    if (source.trim() === "") return undefined;
    const value = jsonOrUndefined(source);
    // What JSON.parse says of a problem quotes the text and names no line, and a key that stands there twice is none to it.
    if (value !== undefined && !hasDoubledKey(source, value)) return value;
    return await parseWithComments(source, name, { disallowComments: true });
  },
  ways: [async (_text, _edits, value) => jsonText(value)],
  write: async (value) => jsonText(value),
};

const jsonc: ConfigFormat = {
  parse: async (text, name) => {
    const source = text.replace(/^\uFEFF/, "");
    return await parseWithComments(source, name, { allowTrailingComma: true, allowEmptyContent: true });
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

async function parseWithComments(text: string, name: string, options: JsoncParser.ParseOptions): Promise<unknown> {
  const [parser, { jsonProblem }] = await Promise.all([import("jsonc-parser"), import("./json-problem.js")]);
  const errors: JsoncParser.ParseError[] = [];
  const value: unknown = parser.parse(text, errors, options);
  const problem = jsonProblem(parser, text, errors);
  if (problem !== undefined) throw new InvalidInputError(`${name}: ${problem}`);
  return value;
}

/** With the mark at its beginning and the line breaks it had. */
function asWritten(text: string, change: (plain: string) => string | undefined): string | undefined {
  const [mark = ""] = /^\uFEFF?/.exec(text) ?? [];
  const hasReturns = text.includes("\r\n");
  const changed = change(text.slice(mark.length).replaceAll("\r\n", "\n"));
  return changed === undefined ? undefined : mark + (hasReturns ? changed.replaceAll("\n", "\r\n") : changed);
}

function jsonText(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
