import type { ImageType } from "./image-type.js";

interface Pixels {
  readonly width: number;
  readonly height: number;
}

/** How wide and high an image says it is; undefined when that cannot be read. */
export function imagePixels(bytes: Buffer, type: ImageType): Pixels | undefined {
  try {
    return readers[type](bytes);
  } catch {
    // It ends before it has said it.
    return undefined;
  }
}

const readers: Record<ImageType, (bytes: Buffer) => Pixels | undefined> = {
  "image/png": (bytes) => ({ width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }),
  "image/gif": (bytes) => ({ width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) }),
  "image/jpeg": jpegPixels,
  "image/webp": webpPixels,
};

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
