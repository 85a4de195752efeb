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

/** Every provider accepts this size; base64 makes it a third larger. */
export const maxImageBytes = 3_750_000;
const maxImageSide = 8_000;

/** An image that can be shown to a model, or the reason why it cannot. */
type FitImage =
  | { readonly ok: true; readonly type: ImageType; readonly url: string }
  | { readonly ok: false; readonly problem: string };

/** Rejects truncated and oversized images: a provider would reject them, and with them every later request. */
export function fitImage(bytes: Buffer): FitImage {
  if (bytes.length > maxImageBytes) return unfit(`it is larger than ${maxImageBytes} bytes`);
  const image = imageType(bytes);
  if (image === undefined) return unfit("it is not a png, jpeg, gif or webp image");
  const { type, isWhole } = image;
  if (!isWhole) return unfit(`its end is missing (${type})`);
  const { width, height } = imagePixels(bytes, type) ?? { width: 0, height: 0 };
  if (width === 0 || height === 0) return unfit(`it has no size information (${type})`);
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

/** The dimensions in the image's header; undefined if they cannot be read. */
function imagePixels(bytes: Buffer, type: ImageType): Pixels | undefined {
  try {
    return readers[type](bytes);
  } catch {
    // The image ends before its dimensions.
    return undefined;
  }
}

/** Skips segments until the one that begins a frame. */
function jpegPixels(bytes: Buffer): Pixels | undefined {
  let at = 2;
  while (bytes[at] === 0xff) {
    const marker = bytes.readUInt8(at + 1);
    if (isFrame(marker)) return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
    // Any number of fill bytes may precede a marker.
    at += marker === 0xff ? 1 : 2 + bytes.readUInt16BE(at + 2);
  }
  return undefined;
}

/** Three markers in this range are for tables or reserved. */
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

/** The types that the wire APIs accept. The content decides, because a file's name is not reliable. */
type ImageType = "image/png" | "image/jpeg" | "image/gif" | "image/webp";

/** Detects the type of an image and whether it is complete; undefined if it is not an image. */
function imageType(bytes: Buffer): { readonly type: ImageType; readonly isWhole: boolean } | undefined {
  if (startsWith(bytes, pngStart)) return { type: "image/png", isWhole: bytes.subarray(-8, -4).equals(pngEnd) };
  // Cameras append data after the end marker.
  if (startsWith(bytes, jpegStart)) return { type: "image/jpeg", isWhole: bytes.lastIndexOf(jpegEnd) > 0 };
  const head = bytes.toString("latin1", 0, 12);
  if (/^GIF8[79]a/.test(head)) return { type: "image/gif", isWhole: bytes.at(-1) === gifEnd };
  if (!/^RIFF[^]{4}WEBP$/.test(head)) return undefined;
  return { type: "image/webp", isWhole: bytes.length >= bytes.readUInt32LE(4) + riffHeadBytes };
}

function startsWith(bytes: Buffer, start: Buffer): boolean {
  return bytes.subarray(0, start.length).equals(start);
}
