import { isUtf8 } from "node:buffer";
import { isRecord } from "../../base/is-record.js";
import type { SecretKind, TextRedactor } from "../../messages/redaction.js";
import { readLineBytes, withoutMark } from "../file/line-object.js";
import { redactLine } from "../redact-line.js";

/** What was found in one line. */
export interface ScrubbedLine {
  /** The line without its newline; the very bytes when nothing was found. */
  readonly bytes: Buffer;
  readonly found: Readonly<Record<SecretKind, number>>;
  /** Whether a known secret is still in it, where nothing may be changed: in what is signed, in an id, in an image. */
  readonly keeps: boolean;
}

const nothing: ScrubbedLine["found"] = { known: 0, named: 0, shaped: 0 };
const carriageReturn = 0x0d;

/** A line of any rollout without secrets. What is no line at all is taken as a text, so that damage hides nothing. */
export function scrubLine(bytes: Buffer, redactor: TextRedactor): ScrubbedLine {
  const body = withoutMark(bytes);
  const end = body.at(-1) === carriageReturn ? body.length - 1 : body.length;
  const [before, after] = [bytes.subarray(0, bytes.length - body.length), body.subarray(end)];
  const isLine = readLineBytes(body).status === "object";
  const encoding = isUtf8(body) ? "utf8" : "latin1";
  const text = body.toString(encoding, 0, end);
  if (isLine && !redactor.suspects(text)) return { bytes, found: nothing, keeps: false };
  const secrets = { known: new Set<string>(), named: new Set<string>(), shaped: new Set<string>() };
  const onSecret = (kind: SecretKind, value: string): void => void secrets[kind].add(value);
  const redacted = isLine ? redactJsonLine(text, redactor, onSecret) : redactor.redact(text, onSecret);
  const found = { known: secrets.known.size, named: secrets.named.size, shaped: secrets.shaped.size };
  let keeps = false;
  redactor.redactKnown(redacted, () => (keeps = true));
  if (redacted === text) return { bytes, found: nothing, keeps };
  return { bytes: Buffer.concat([before, Buffer.from(redacted, encoding), after]), found, keeps };
}

function redactJsonLine(text: string, redactor: TextRedactor, onSecret: (kind: SecretKind, value: string) => void) {
  const value = JSON.parse(text) as object;
  let count = 0;
  const redacted = redactLine(value, redactor, (kind, secret) => {
    count += 1;
    onSecret(kind, secret);
  });
  return redacted === value ? text : JSON.stringify(withCount(redacted, count));
}

/** As a line says it that was written without its secrets. */
function withCount(line: object, count: number): object {
  if (!isRecord(line) || !("payload" in line)) return line;
  const { payload, redacted, ...others } = line;
  return { ...others, redacted: count + (typeof redacted === "number" ? redacted : 0), payload };
}
