import { imagePixels } from "./image-pixels.js";
import { imageType, type ImageType } from "./image-type.js";

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
