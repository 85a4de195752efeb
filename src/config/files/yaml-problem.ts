import type { ErrorCode, YAMLError } from "yaml";

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

/** What is wrong with a text, and where. */
export function yamlProblem({ code, linePos }: Pick<YAMLError, "code" | "linePos">): string {
  const [start] = linePos ?? [];
  const place = start === undefined ? "" : ` in line ${start.line}, column ${start.col}`;
  return `invalid YAML${place}: ${words[code]}`;
}
