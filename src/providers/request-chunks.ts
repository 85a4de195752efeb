/** The fields that many requests share, and that are mostly longer than the rest. Tools are always the same objects. */
export interface StartFields {
  readonly instructions?: string | null | undefined;
  readonly tools?: readonly object[] | undefined;
}

interface Start extends StartFields {
  /** The opening brace of the body, and the fields with a comma after each. */
  readonly bytes: Uint8Array;
}

/** Number of different starts that are kept: conversations of one project have the same. */
const maxStarts = 16;

/** The latest used first. */
let starts: readonly Start[] = [];

/**
 * Serializes a request body, which has more fields than these two. The bytes of its start are encoded once for many
 * requests.
 */
export function requestChunks({ instructions, tools, ...rest }: StartFields): readonly [Uint8Array, Uint8Array] {
  return [startOf({ instructions, tools }).bytes, Buffer.from(JSON.stringify(rest).slice(1))];
}

function startOf(fields: StartFields): Start {
  const known = starts.findIndex((start) => hasFields(start, fields));
  if (known === 0 && starts[0] !== undefined) return starts[0];
  const start = starts[known] ?? { ...fields, bytes: encodedStart(fields) };
  starts = [start, ...starts.filter((other) => other !== start)].slice(0, maxStarts);
  return start;
}

function hasFields(start: Start, { instructions, tools }: StartFields): boolean {
  return (
    start.instructions === instructions &&
    start.tools?.length === tools?.length &&
    (tools ?? []).every((tool, index) => start.tools?.[index] === tool)
  );
}

function encodedStart(fields: StartFields): Uint8Array {
  const text = JSON.stringify(fields).slice(0, -1);
  return Buffer.from(text === "{" ? text : `${text},`);
}
