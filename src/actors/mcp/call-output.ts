import { CallToolResult, McpContent } from "../../messages/mcp.js";
import { shortened } from "../../messages/shortened.js";
import type { ToolOutput } from "../../messages/tool.js";

/** How much text of one result is looked at; the conversation cuts it further for the model. */
const maxTextChars = 1024 * 1024;
/** How much of it is told in an event. */
const maxToldChars = 32 * 1024;
const maxParts = 1_000;

/** What a server answered to a call; undefined when that is no answer. */
export function callResult(answer: unknown): CallToolResult | undefined {
  return CallToolResult.safeParse({ content: [], ...Object(answer) }).data;
}

/** A result as text for the model. What is no text is named, with its kind and size. */
export function resultOutput({ content, structuredContent, isError }: CallToolResult): ToolOutput {
  const parts = content.slice(0, maxParts).map(partText);
  if (content.length > maxParts) parts.push(`[${content.length - maxParts} more parts left out]`);
  // Where there is text it says the same, by the protocol.
  const isTold = content.some(({ type }) => type === "text");
  if (!isTold && structuredContent !== undefined) parts.push(jsonText(structuredContent));
  const text = parts.join("\n");
  const cut = text.length > maxTextChars ? `\n[${text.length - maxTextChars} characters left out]` : "";
  return { content: shortened(text, maxTextChars) + cut || "(no output)", success: isError !== true };
}

/** The same for an event: all of its parts, none of them long. */
export function toldResult({ content, structuredContent, isError }: CallToolResult): CallToolResult {
  let left = maxToldChars;
  const told = content.slice(0, maxParts).map((part): McpContent => {
    if (part.type !== "text") return { type: "text", text: partText(part) };
    const text = shortened(String(part["text"]), left);
    left = Math.max(0, left - text.length);
    return { type: "text", text };
  });
  const structured = structuredContent === undefined ? undefined : jsonText(structuredContent);
  return {
    content: told,
    ...(structured === undefined || structured.length > left ? {} : { structuredContent }),
    ...(isError === undefined ? {} : { isError }),
  };
}

function partText(part: McpContent): string {
  const { type, text, mimeType, data, uri, name, resource } = part;
  switch (type) {
    case "text":
      return typeof text === "string" ? text : "";
    case "image":
    case "audio":
      return `[${type} ${shortOf(mimeType)}, ${bytesOf(data)} bytes, not shown]`;
    case "resource_link":
      return `[resource ${shortOf(uri)}: ${shortOf(name)}]`;
    case "resource":
      return resourceText(resource);
    default:
      return `[${shortOf(type)}, not shown]`;
  }
}

/** A resource that is part of an answer, or read by itself. */
export function resourceText(resource: unknown): string {
  const { uri, text, blob, mimeType } = Object(resource) as Readonly<Record<string, unknown>>;
  if (typeof text === "string") return `[resource ${shortOf(uri)}]\n${text}`;
  return `[resource ${shortOf(uri)}, ${shortOf(mimeType)}, ${bytesOf(blob)} bytes, not shown]`;
}

/** The messages of a prompt, one after another. */
export function promptText(answer: unknown): string {
  const { messages } = Object(answer) as { readonly messages?: unknown };
  const parts = (Array.isArray(messages) ? messages : []).slice(0, maxParts).map((message) => {
    const content = McpContent.safeParse(Object(message)["content"]);
    return content.success ? partText(content.data) : "";
  });
  return shortened(parts.join("\n\n"), maxTextChars);
}

function bytesOf(base64: unknown): number {
  return typeof base64 === "string" ? Math.floor((base64.length * 3) / 4) : 0;
}

function shortOf(value: unknown): string {
  return typeof value === "string" ? shortened(value, 500) : "unknown";
}

export function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    return "[too deep to be shown]";
  }
}
