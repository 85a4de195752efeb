/** How many bytes at the end begin a character of UTF-8 that is not finished: 0 to 3. */
export function unfinishedBytes(bytes: Uint8Array): number {
  for (let count = 1; count <= Math.min(3, bytes.length); count += 1) {
    const byte = bytes[bytes.length - count] ?? 0;
    if (isContinuation(byte)) continue;
    return lengthFrom(byte) > count ? count : 0;
  }
  return 0;
}

/** How many bytes at the start belong to a character that began before: 0 to 3. */
export function leftoverBytes(bytes: Uint8Array): number {
  const end = bytes.subarray(0, 3).findIndex((byte) => !isContinuation(byte));
  return end === -1 ? Math.min(3, bytes.length) : end;
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}

/** How long a character is that begins with this byte; 1 for what begins none. */
function lengthFrom(byte: number): number {
  if (byte >= 0xf0 && byte < 0xf8) return 4;
  if (byte >= 0xe0) return byte < 0xf0 ? 3 : 1;
  return byte >= 0xc0 ? 2 : 1;
}
