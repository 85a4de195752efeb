import { readFile, stat } from "node:fs/promises";
import { extname, resolve } from "node:path";
import { InvalidInputError } from "../../messages/errors.js";
import { systemReason } from "../../base/system-error.js";
import type { InlineInput } from "../../messages/user-input.js";

/** The largest image a submission may bring. */
const maxImageBytes = 20 * 1024 * 1024;

const mediaTypes: Readonly<Record<string, string>> = {
  ".gif": "image/gif",
  ".jpeg": "image/jpeg",
  ".jpg": "image/jpeg",
  ".png": "image/png",
  ".webp": "image/webp",
};

/** Reads an image file into a data URL. */
export async function readLocalImage(path: string, cwd: string): Promise<InlineInput> {
  const mediaType = mediaTypes[extname(path).toLowerCase()];
  if (mediaType === undefined) throw new InvalidInputError(`image ${path}: give a png, jpeg, gif or webp file`);
  const file = resolve(cwd, path);
  try {
    const stats = await stat(file);
    if (!stats.isFile()) throw new InvalidInputError(`image ${path}: not a file`);
    if (stats.size > maxImageBytes) throw new InvalidInputError(`image ${path}: larger than ${maxImageBytes} bytes`);
    const bytes = await readFile(file);
    return { type: "image", image_url: `data:${mediaType};base64,${bytes.toString("base64")}` };
  } catch (error) {
    if (error instanceof InvalidInputError) throw error;
    throw new InvalidInputError(`image ${path}: cannot be read: ${systemReason(error)}`);
  }
}
