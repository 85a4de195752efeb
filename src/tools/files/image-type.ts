/** What the wire APIs take; a file's name says nothing, so what it holds decides. */
export type ImageType = "image/png" | "image/jpeg" | "image/gif" | "image/webp";

/** What kind of image some bytes are, and whether they are all of it: undefined when they are none. */
export function imageType(bytes: Buffer): { readonly type: ImageType; readonly isWhole: boolean } | undefined {
  if (startsWith(bytes, pngStart)) return { type: "image/png", isWhole: bytes.subarray(-8, -4).equals(pngEnd) };
  // Cameras write something behind the end.
  if (startsWith(bytes, jpegStart)) return { type: "image/jpeg", isWhole: bytes.lastIndexOf(jpegEnd) > 0 };
  const head = bytes.toString("latin1", 0, 12);
  if (/^GIF8[79]a/.test(head)) return { type: "image/gif", isWhole: bytes.at(-1) === gifEnd };
  if (!/^RIFF[^]{4}WEBP$/.test(head)) return undefined;
  return { type: "image/webp", isWhole: bytes.length >= bytes.readUInt32LE(4) + riffHeadBytes };
}

const pngStart = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
const pngEnd = Buffer.from("IEND");
const jpegStart = Buffer.from([0xff, 0xd8, 0xff]);
const jpegEnd = Buffer.from([0xff, 0xd9]);
const gifEnd = 0x3b;
const riffHeadBytes = 8;

function startsWith(bytes: Buffer, start: Buffer): boolean {
  return bytes.subarray(0, start.length).equals(start);
}
