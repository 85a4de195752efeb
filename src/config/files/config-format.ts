import type * as JsoncParser from "jsonc-parser";
import type { ErrorCode, YAMLError } from "yaml";
import { InvalidInputError } from "../../base/errors.js";
import { jsonOrUndefined } from "../../base/parse.js";
import type { ConfigName } from "../settings/config-names.js";
import type { ConfigEdit } from "./config-edits.js";

/** Replaces the library's own messages, because they quote the text, which may contain a secret. */
const words = {
  ALIAS_PROPS: "an alias cannot have an anchor or a tag",
  BAD_ALIAS: "an alias (*…) refers to an unknown anchor, or expands to too much",
  BAD_COLLECTION_TYPE: "a tag does not match the value after it",
  BAD_DIRECTIVE: "unknown directive (%…)",
  BAD_DQ_ESCAPE: "unknown escape (\\…) in double quotes",
  BAD_INDENT: "the indentation does not match the lines above",
  BAD_PROP_ORDER: "an anchor or a tag is in the wrong place",
  BAD_SCALAR_START: "a value starts with a character that needs quotes",
  BLOCK_AS_IMPLICIT_KEY: "a key or a list starts inside a value; is a line break or an indentation missing?",
  BLOCK_IN_FLOW: "a multi-line list or table is inside [ ] or { }",
  DUPLICATE_KEY: "duplicate key",
  IMPOSSIBLE: "it cannot be read",
  KEY_OVER_1024_CHARS: "a key is longer than 1024 characters",
  MISSING_CHAR: "a character is missing, such as a colon, a comma, a quote or a bracket",
  MULTILINE_IMPLICIT_KEY: "a key spans several lines; is a colon or a quote missing?",
  MULTIPLE_ANCHORS: "a value has several anchors",
  MULTIPLE_DOCS: "there are several documents (---)",
  MULTIPLE_TAGS: "a value has several tags",
  NON_STRING_KEY: "a key is not a string",
  RESOURCE_EXHAUSTION: "it is nested too deeply",
  TAB_AS_INDENT: "tabs cannot be used for indentation; use spaces",
  TAG_RESOLVE_FAILED: "a tag is unknown or does not match its value",
  UNEXPECTED_TOKEN: "unexpected text",
} satisfies Record<ErrorCode, string>;

/** In valid JSON, a string followed by a colon is a key. */
const stringToken = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?/g;

/**
 * Reads and writes one configuration format. The parsers of the rarer formats are loaded only when such a file exists.
 */
interface ConfigFormat {
  /**
   * Returns the parsed value; undefined for an empty text. Throws an `InvalidInputError` that does not quote the text.
   */
  parse(text: string, name: string): Promise<unknown>;
  /**
   * Ways to edit a text and leave the rest of it unchanged. The one that preserves the most comes first; each returns
   * undefined if it cannot make the edits.
   */
  readonly ways: readonly Way[];
  /** Writes a new text that contains exactly this value. */
  write(value: unknown): Promise<string>;
}

type Way = (text: string, edits: readonly ConfigEdit[], value: unknown) => Promise<string | undefined>;

const json: ConfigFormat = {
  parse: async (text, name) => {
    const source = text.replace(/^\uFEFF/, "");
    if (source.trim() === "") return undefined;
    const value = jsonOrUndefined(source);
    // The error messages of JSON.parse quote the text and name no line, and it silently accepts duplicate keys.
    if (value !== undefined && !hasDuplicateKey(source, value)) return value;
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
      return withOriginalLineBreaks(text, (plain) => editJsonc(parser, plain, edits));
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
      // An alias has no anchor, or expands too often.
      throw new InvalidInputError(`${name}: ${yamlProblem({ code: "BAD_ALIAS" })}`);
    }
  },
  ways: [
    async (text, edits) => {
      const [library, { editYaml }] = await Promise.all([import("yaml"), import("./edit-yaml.js")]);
      return withOriginalLineBreaks(text, (plain) => editYaml(library, plain, edits));
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

/** Restores the byte order mark and the line breaks of the original text after the change. */
function withOriginalLineBreaks(text: string, change: (plain: string) => string | undefined): string | undefined {
  const [mark = ""] = /^\uFEFF?/.exec(text) ?? [];
  const hasReturns = text.includes("\r\n");
  const changed = change(text.slice(mark.length).replaceAll("\r\n", "\n"));
  return changed === undefined ? undefined : mark + (hasReturns ? changed.replaceAll("\n", "\r\n") : changed);
}

function jsonText(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** Whether a JSON text has a duplicate key: if so, the text contains more keys than the parsed value. */
function hasDuplicateKey(text: string, value: unknown): boolean {
  let keys = 0;
  for (const [, colon] of text.matchAll(stringToken)) if (colon !== undefined) keys += 1;
  return keys > keysIn(value);
}

function keysIn(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const inner: unknown[] = Object.values(value);
  return inner.reduce<number>((keys, each) => keys + keysIn(each), Array.isArray(value) ? 0 : inner.length);
}

/** Describes a problem and its position. */
function yamlProblem({ code, linePos }: Pick<YAMLError, "code" | "linePos">): string {
  const [start] = linePos ?? [];
  const place = start === undefined ? "" : ` in line ${start.line}, column ${start.col}`;
  return `invalid YAML${place}: ${words[code]}`;
}
