import { shortened } from "../shortened.js";
import { visible } from "../visible.js";

const maxChars = 200;
/** Its events show what it runs. */
const showsItself: ReadonlySet<string> = new Set(["shell"]);

/** What a model asks for, on one line: the tool's name and what it is given. Nothing when it is no such call. */
export function callLine(item: unknown): string | undefined {
  if (!isFunctionCall(item) || showsItself.has(item.name)) return undefined;
  const line = visible(`${item.name} ${argumentsText(item.arguments)}`.slice(0, maxChars * 2)).trimEnd();
  return shortened(line, maxChars);
}

function isFunctionCall(item: unknown): item is { readonly name: string; readonly arguments: string } {
  const { type, name, arguments: text } = Object(item) as Record<string, unknown>;
  return type === "function_call" && typeof name === "string" && typeof text === "string";
}

/** The values alone: which tool it is says what they mean. */
function argumentsText(text: string): string {
  try {
    const values = Object.values(Object(JSON.parse(text)) as Record<string, unknown>);
    return values.map((value) => (typeof value === "string" ? value : JSON.stringify(value))).join(" ");
  } catch {
    // A model may write anything: what is no JSON, or too deep to be written again.
    return text;
  }
}
