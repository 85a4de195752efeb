import { deflateSync } from "node:zlib";

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";
const lineBytes = 52;
const groupBytes = 4;
const groupChars = 5;

/** Both contents whole, the new one first, so that it can be applied and taken back. */
export function binaryPatch(before: Uint8Array, after: Uint8Array): string {
  return `GIT binary patch\n${literal(after)}\n${literal(before)}\n`;
}

function literal(bytes: Uint8Array): string {
  const packed = deflateSync(bytes);
  const lines: string[] = [];
  for (let at = 0; at < packed.length; at += lineBytes) lines.push(encodedLine(packed.subarray(at, at + lineBytes)));
  return `literal ${bytes.length}\n${lines.join("")}`;
}

/** How many bytes it has as a letter, then five characters for every four bytes. */
function encodedLine(bytes: Buffer): string {
  const padded = Buffer.alloc(Math.ceil(bytes.length / groupBytes) * groupBytes);
  bytes.copy(padded);
  let text = lengthLetter(bytes.length);
  for (let at = 0; at < padded.length; at += groupBytes) text += encodedGroup(padded.readUInt32BE(at));
  return `${text}\n`;
}

function encodedGroup(value: number): string {
  let [rest, text] = [value, ""];
  for (let count = 0; count < groupChars; count += 1) {
    text = alphabet.charAt(rest % alphabet.length) + text;
    rest = Math.floor(rest / alphabet.length);
  }
  return text;
}

function lengthLetter(length: number): string {
  return length <= 26 ? String.fromCharCode(64 + length) : String.fromCharCode(96 + length - 26);
}
