import { counted } from "../../base/text/counted.js";
import { shortened } from "../../base/text/truncate.js";
import { CallToolResult, McpContent } from "../../messages/tools/mcp.js";
import type { ToolOutput } from "../../messages/tools/tool.js";
import { fitImage, maxImageBytes } from "../../tools/files/fit-image.js";

/** Maximum number of images per result. */
const maxImages = 8;

/** Maximum text of one result; the conversation cuts it further for the model. */
const maxTextChars = 1024 * 1024;
/** Maximum text of one result in an event. */
const maxEventChars = 32 * 1024;
const maxParts = 1_000;

/** Parses a server's answer to a call; undefined when it is invalid. */
export function callResult(answer: unknown): CallToolResult | undefined {
  return CallToolResult.safeParse({ content: [], ...Object(answer) }).data;
}

/** Converts a result for the model: its texts, and the images that a model can be shown. Other parts are only named. */
export function resultOutput({ content, structuredContent, isError }: CallToolResult): ToolOutput {
  const images = new ResultImages();
  const parts = content.slice(0, maxParts).map((part) => partText(part, imageNote(images)));
  if (content.length > maxParts) parts.push(`[${counted(content.length - maxParts, "more part")} left out]`);
  // By the protocol, text content repeats the structured content.
  const hasText = content.some(({ type }) => type === "text");
  if (!hasText && structuredContent !== undefined) parts.push(jsonText(structuredContent));
  const text = parts.join("\n");
  const cut = text.length > maxTextChars ? `\n[${counted(text.length - maxTextChars, "character")} left out]` : "";
  return {
    content: shortened(text, maxTextChars) + cut || "(no output)",
    success: isError !== true,
    ...(images.urls.length === 0 ? {} : { images: [...images.urls] }),
  };
}

/** Converts a result for an event: all of its parts, shortened. */
export function shortenedResult({ content, structuredContent, isError }: CallToolResult): CallToolResult {
  let left = maxEventChars;
  const parts = content.slice(0, maxParts).map((part): McpContent => {
    const text = shortened(partText(part, noNote), left);
    left = Math.max(0, left - text.length);
    return { type: "text", text };
  });
  const structured = structuredContent === undefined ? undefined : jsonText(structuredContent);
  return {
    content: parts,
    ...(structured === undefined || structured.length > left ? {} : { structuredContent }),
    ...(isError === undefined ? {} : { isError }),
  };
}

/** Returns a note about binary content: whether, and why not, it is shown to the model. */
type BinaryNote = (base64: unknown, isImage: boolean) => string;

const noNote: BinaryNote = () => "";
const notShownNote: BinaryNote = () => ", not shown";

function imageNote(images: ResultImages): BinaryNote {
  return (base64, isImage) => {
    if (!isImage || typeof base64 !== "string") return notShownNote(base64, isImage);
    const problem = images.add(base64);
    return problem === undefined ? "" : `, not shown: ${problem}`;
  };
}

function partText(part: McpContent, binaryNote: BinaryNote): string {
  const { type, text, mimeType, data, uri, name, resource } = part;
  switch (type) {
    case "text":
      return typeof text === "string" ? text : "";
    case "image":
    case "audio":
      return `[${type} ${shortOf(mimeType)}, ${bytesOf(data)}${binaryNote(data, type === "image")}]`;
    case "resource_link":
      return `[resource ${shortOf(uri)}: ${shortOf(name)}]`;
    case "resource":
      return resourceText(resource, binaryNote);
    default:
      return `[${shortOf(type)}, not shown]`;
  }
}

function resourceText(resource: unknown, binaryNote: BinaryNote): string {
  const { uri, text, blob, mimeType } = Object(resource) as Readonly<Record<string, unknown>>;
  if (typeof text === "string") return `[resource ${shortOf(uri)}]\n${text}`;
  const isImage = typeof mimeType === "string" && mimeType.startsWith("image/");
  return `[resource ${shortOf(uri)}, ${shortOf(mimeType)}, ${bytesOf(blob)}${binaryNote(blob, isImage)}]`;
}

/** Returns the messages of a prompt as one text. */
export function promptText(answer: unknown): string {
  const { messages } = Object(answer) as { readonly messages?: unknown };
  const parts = (Array.isArray(messages) ? messages : []).slice(0, maxParts).map((message) => {
    const content = McpContent.safeParse(Object(message)["content"]);
    return content.success ? partText(content.data, notShownNote) : "";
  });
  return shortened(parts.join("\n\n"), maxTextChars);
}

function bytesOf(base64: unknown): string {
  return counted(typeof base64 === "string" ? Buffer.byteLength(base64, "base64") : 0, "byte");
}

function shortOf(value: unknown): string {
  return typeof value === "string" ? shortened(value, 500) : "unknown";
}

export function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    return "[nested too deeply to show]";
  }
}

/** The images of a result that are shown to the model. */
class ResultImages {
  readonly #urls: string[] = [];

  get urls(): readonly string[] {
    return this.#urls;
  }

  /** Returns the reason why the image is not added; undefined when it is. */
  add(base64: string): string | undefined {
    if (this.#urls.length === maxImages) return `there are more than ${maxImages} images`;
    // Checked before decoding.
    if (Buffer.byteLength(base64, "base64") > maxImageBytes) return `it is larger than ${maxImageBytes} bytes`;
    const image = fitImage(Buffer.from(base64, "base64"));
    if (!image.ok) return image.problem;
    this.#urls.push(image.url);
    return undefined;
  }
}
