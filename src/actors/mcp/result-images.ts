import { fitImage, maxImageBytes } from "../../tools/files/fit-image.js";

/** In one result. */
const maxImages = 8;

/** The images of a result that a model is shown. */
export class ResultImages {
  readonly #urls: string[] = [];

  get urls(): readonly string[] {
    return this.#urls;
  }

  /** Says why it is not among them; undefined when it is. */
  add(base64: string): string | undefined {
    if (this.#urls.length === maxImages) return `there are more than ${maxImages} images`;
    // Not decoded to be found too large.
    if (Buffer.byteLength(base64, "base64") > maxImageBytes) return `it is larger than ${maxImageBytes} bytes`;
    const image = fitImage(Buffer.from(base64, "base64"));
    if (!image.ok) return image.problem;
    this.#urls.push(image.url);
    return undefined;
  }
}
