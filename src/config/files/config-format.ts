import type * as JsoncParser from "jsonc-parser";
import type { ErrorCode, YAMLError } from "yaml";
import { InvalidInputError } from "../../base/errors.js";
import { jsonOrUndefined } from "../../base/parse.js";
import type { ConfigName } from "../settings/config-names.js";
import type { ConfigEdit } from "./config-edits.js";

/** The library's own messages quote the text, which may hold a secret. */
const words = {
  ALIAS_PROPS: "an alias cannot have an anchor or a tag",
  BAD_ALIAS: "an alias (*…) names nothing that stands before it, or far too much",
  BAD_COLLECTION_TYPE: "a tag does not go with what it stands before",
  BAD_DIRECTIVE: "a directive (%…) is not known",
  BAD_DQ_ESCAPE: "an escape (\\…) in double quotes is not known",
  BAD_INDENT: "the indentation does not go with the lines above",
  BAD_PROP_ORDER: "an anchor or a tag stands in the wrong place",
  BAD_SCALAR_START: "a value begins with a character that needs quotes",
  BLOCK_AS_IMPLICIT_KEY: "a key or a list begins where a value goes on; is a line break or an indentation missing?",
  BLOCK_IN_FLOW: "a list or table of several lines stands inside of [ ] or { }",
  DUPLICATE_KEY: "a key stands there twice",
  IMPOSSIBLE: "it cannot be read",
  KEY_OVER_1024_CHARS: "a key is longer than 1024 characters",
  MISSING_CHAR: "a character is missing, such as a colon, a comma, a quote or a bracket",
  MULTILINE_IMPLICIT_KEY: "a key goes over several lines; is a colon or a quote missing?",
  MULTIPLE_ANCHORS: "a value has several anchors",
  MULTIPLE_DOCS: "there are several documents (---)",
  MULTIPLE_TAGS: "a value has several tags",
  NON_STRING_KEY: "a key is no text",
  RESOURCE_EXHAUSTION: "it is nested too deeply",
  TAB_AS_INDENT: "a tab cannot be an indentation; use spaces",
  TAG_RESOLVE_FAILED: "a tag is not known, or its value does not fit",
  UNEXPECTED_TOKEN: "something stands where nothing of the kind can stand",
} satisfies Record<ErrorCode, string>;

/** In a text that is right, a string with a colon behind it is a key. */
const stringToken = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?/g;

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

/** Whether a key stands twice in a table of a JSON text: such a text has more keys than its value. */
function hasDoubledKey(text: string, value: unknown): boolean {
  let keys = 0;
  for (const [, colon] of text.matchAll(stringToken)) if (colon !== undefined) keys += 1;
  return keys > keysIn(value);
}

function keysIn(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const inner: unknown[] = Object.values(value);
  return inner.reduce<number>((keys, each) => keys + keysIn(each), Array.isArray(value) ? 0 : inner.length);
}

/** What is wrong with a text, and where. */
function yamlProblem({ code, linePos }: Pick<YAMLError, "code" | "linePos">): string {
  const [start] = linePos ?? [];
  const place = start === undefined ? "" : ` in line ${start.line}, column ${start.col}`;
  return `invalid YAML${place}: ${words[code]}`;
}
