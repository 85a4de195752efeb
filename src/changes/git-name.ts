const named: Readonly<Record<number, string>> = {
  7: "\\a",
  8: "\\b",
  9: "\\t",
  10: "\\n",
  11: "\\v",
  12: "\\f",
  13: "\\r",
  34: '\\"',
  92: "\\\\",
};

/** A name as git writes it: in quotes, byte by byte, when it has what is not plain ASCII, a quote or a backslash. */
export function gitName(name: string): string {
  const parts = Array.from(Buffer.from(name), quotedByte);
  const text = parts.join("");
  return parts.some((part) => part.length > 1) ? `"${text}"` : text;
}

function quotedByte(byte: number): string {
  const isPlain = byte >= 0x20 && byte < 0x7f;
  return named[byte] ?? (isPlain ? String.fromCharCode(byte) : `\\${byte.toString(8).padStart(3, "0")}`);
}
