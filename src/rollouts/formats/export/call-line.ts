import { quotedCommand } from "../../../base/text/quoted-command.js";
import { shortened } from "../../../base/text/truncate.js";
import { visible } from "../../../base/text/visible.js";
import { jsonOrUndefined } from "../../../base/parse.js";

const maxChars = 200;
const maxCommandChars = 500;
const shell = "shell";
const applyPatch = "apply_patch";
/** Calls whose own events already show the work. */
const shownByEvents = new Set([shell, "update_plan"]);
const patchedFile = /^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$/gm;

/**
 * A tool call on one line: the tool's name and its arguments. Undefined for items that are not tool calls, and for
 * calls whose own events already show the work.
 */
export function callLine(item: unknown): string | undefined {
  const { type, name, arguments: args, input } = Object(item) as Record<string, unknown>;
  const callInput = type === "function_call" ? args : type === "custom_tool_call" ? input : undefined;
  if (typeof name !== "string" || typeof callInput !== "string" || shownByEvents.has(name)) return undefined;
  return toolLine(name, callInput);
}

/** Like `callLine`, for any call. A shell command is shown as one would type it. */
export function toolLine(name: string, rawArguments: string): string {
  const argv = name === shell ? commandOf(rawArguments) : undefined;
  if (argv !== undefined) return commandLine(argv);
  const line = visible(
    `${name} ${name === applyPatch ? patchedFiles(rawArguments) : argumentsText(rawArguments)}`.slice(0, maxChars * 2),
  ).trimEnd();
  return shortened(line, maxChars);
}

/** A command as one would type it. */
export function commandLine(argv: readonly string[]): string {
  return `$ ${shortened(quotedCommand(argv), maxCommandChars)}`;
}

function commandOf(rawArguments: string): string[] | undefined {
  const { command } = Object(jsonOrUndefined(rawArguments)) as { readonly command?: unknown };
  const isCommand = Array.isArray(command) && command.every((word) => typeof word === "string");
  return isCommand && command.length > 0 ? command : undefined;
}

/** Only the names of the files: the patch itself is long, and is shown after it was applied. */
function patchedFiles(rawArguments: string): string {
  const { input } = Object(jsonOrUndefined(rawArguments)) as { readonly input?: unknown };
  // A model that need not write JSON sends the patch itself.
  const patch = typeof input === "string" ? input : rawArguments;
  const files = [...patch.matchAll(patchedFile)].map(([, path = ""]) => path.trim());
  return files.length === 0 && patch === rawArguments ? argumentsText(rawArguments) : files.join(" ");
}

/** Only the values: the tool's name makes clear what they mean. */
function argumentsText(text: string): string {
  try {
    const values = Object.values(Object(JSON.parse(text)) as Record<string, unknown>);
    return values.map((value) => (typeof value === "string" ? value : JSON.stringify(value))).join(" ");
  } catch {
    // A model may write anything: text that is not JSON, or JSON nested too deeply to be serialized again.
    return text;
  }
}
