const pngStart = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");

const pngEnd = Buffer.from("IEND");

const jpegStart = Buffer.from([0xff, 0xd8, 0xff]);

const jpegEnd = Buffer.from([0xff, 0xd9]);

const gifEnd = 0x3b;

const riffHeadBytes = 8;

const readers: Record<ImageType, (bytes: Buffer) => Pixels | undefined> = {
  "image/png": (bytes) => ({ width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }),
  "image/gif": (bytes) => ({ width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) }),
  "image/jpeg": jpegPixels,
  "image/webp": webpPixels,
};

/** What every provider takes: in base64 it is a third more. */
export const maxImageBytes = 3_750_000;
export const maxImageSide = 8_000;

/** An image that a model can be shown, or why it cannot. */
export type FitImage =
  | { readonly ok: true; readonly type: ImageType; readonly url: string }
  | { readonly ok: false; readonly problem: string };

/** A provider refuses what is cut off or too large, and then everything that is said after it. */
export function fitImage(bytes: Buffer): FitImage {
  if (bytes.length > maxImageBytes) return unfit(`it is larger than ${maxImageBytes} bytes`);
  const image = imageType(bytes);
  if (image === undefined) return unfit("it is no png, jpeg, gif or webp image");
  const { type, isWhole } = image;
  if (!isWhole) return unfit(`its end is missing (${type})`);
  const { width, height } = imagePixels(bytes, type) ?? { width: 0, height: 0 };
  if (width === 0 || height === 0) return unfit(`it does not say how large it is (${type})`);
  if (Math.max(width, height) > maxImageSide) return unfit(`it is wider or higher than ${maxImageSide} pixels`);
  return { ok: true, type, url: `data:${type};base64,${bytes.toString("base64")}` };
}

function unfit(problem: string): FitImage {
  return { ok: false, problem };
}

interface Pixels {
  readonly width: number;
  readonly height: number;
}

/** How wide and high an image says it is; undefined when that cannot be read. */
function imagePixels(bytes: Buffer, type: ImageType): Pixels | undefined {
  try {
    return readers[type](bytes);
  } catch {
    // It ends before it has said it.
    return undefined;
  }
}

/** From segment to segment until the one that begins a frame. */
function jpegPixels(bytes: Buffer): Pixels | undefined {
  let at = 2;
  while (bytes[at] === 0xff) {
    const marker = bytes.readUInt8(at + 1);
    if (isFrame(marker)) return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
    // A marker may be preceded by any number of these.
    at += marker === 0xff ? 1 : 2 + bytes.readUInt16BE(at + 2);
  }
  return undefined;
}

/** Of these numbers three are for tables. */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
}

function webpPixels(bytes: Buffer): Pixels | undefined {
  switch (bytes.toString("latin1", 12, 16)) {
    case "VP8X":
      return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
    case "VP8L": {
      const bits = bytes.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case "VP8 ":
      return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
    default:
      return undefined;
  }
}

/** What the wire APIs take; a file's name says nothing, so what it holds decides. */
type ImageType = "image/png" | "image/jpeg" | "image/gif" | "image/webp";

/** What kind of image some bytes are, and whether they are all of it: undefined when they are none. */
function imageType(bytes: Buffer): { readonly type: ImageType; readonly isWhole: boolean } | undefined {
  if (startsWith(bytes, pngStart)) return { type: "image/png", isWhole: bytes.subarray(-8, -4).equals(pngEnd) };
  // Cameras write something behind the end.
  if (startsWith(bytes, jpegStart)) return { type: "image/jpeg", isWhole: bytes.lastIndexOf(jpegEnd) > 0 };
  const head = bytes.toString("latin1", 0, 12);
  if (/^GIF8[79]a/.test(head)) return { type: "image/gif", isWhole: bytes.at(-1) === gifEnd };
  if (!/^RIFF[^]{4}WEBP$/.test(head)) return undefined;
  return { type: "image/webp", isWhole: bytes.length >= bytes.readUInt32LE(4) + riffHeadBytes };
}

function startsWith(bytes: Buffer, start: Buffer): boolean {
  return bytes.subarray(0, start.length).equals(start);
}
