import { type ResponseItem, type CallItem, isCall, isOutput } from "../../messages/response-item.js";
import { jsonOrUndefined } from "../../base/parse.js";

/** The files that tool calls read or modified. */
export interface CompactionDetails {
  readonly readFiles: string[];
  readonly modifiedFiles: string[];
}

const reading = new Set(["read", "read_file", "glob", "grep", "list_files", "search_files", "view_image"]);
const modifying = new Set(["write", "write_file", "edit", "apply_patch"]);

/** Matches the file headers of a patch; shell commands may contain a patch as well. */
const patchLine = /^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$/gm;

const maxPathChars = 1_000;
/** Number of newest files of each kind listed in a summary, because long conversations touch thousands. */
const maxListed = 200;

/**
 * Returns the files named by calls that have an output, merged after those already known, in order of first mention.
 */
export function extractFileOperations(
  history: readonly ResponseItem[],
  previous?: Readonly<CompactionDetails>,
): CompactionDetails {
  const read = new Set(previous?.readFiles);
  const modified = new Set(previous?.modifiedFiles);
  const waiting = new Map<string, CallItem>();
  for (const item of history) {
    if (isCall(item) && typeof item.call_id === "string") waiting.set(item.call_id, item);
    if (!isOutput(item)) continue;
    const call = waiting.get(item.call_id ?? "");
    if (call === undefined) continue;
    waiting.delete(item.call_id ?? "");
    const { files, isReading } = filesOf(call);
    for (const file of files.filter(isPath)) (isReading ? read : modified).add(file);
  }
  return { readFiles: [...read], modifiedFiles: [...modified] };
}

/** Formats the file lists that the caller appends to a summary. */
export function formatFileOperations({ readFiles, modifiedFiles }: Readonly<CompactionDetails>): string {
  return [section("Files Read", readFiles), section("Files Modified", modifiedFiles)].flat().join("\n");
}

function section(title: string, files: readonly string[]): string[] {
  if (files.length === 0) return [];
  const more = files.length > maxListed ? [`- (${files.length - maxListed} more before these)`] : [];
  return [`\n## ${title}\n${[...more, ...files.slice(-maxListed).map((file) => `- ${file}`)].join("\n")}`];
}

function filesOf(call: CallItem): { files: string[]; isReading: boolean } {
  if (call.type === "local_shell_call") return { files: patched(call.action["command"]), isReading: false };
  if (call.type === "tool_search_call") return { files: [], isReading: false };
  const text = call.type === "function_call" ? call.arguments : call.input;
  const isReading = reading.has(call.name);
  if (isReading || modifying.has(call.name)) {
    const args = call.type === "function_call" ? jsonOrUndefined(text) : text;
    return { files: [...named(args), ...(isReading ? [] : patched(args))], isReading };
  }
  return { files: text.includes("*** Begin Patch") ? patched(jsonOrUndefined(text)) : [], isReading };
}

function named(args: unknown): string[] {
  if (typeof args !== "object" || args === null) return [];
  const { file_path, path, paths } = args as Record<string, unknown>;
  return [file_path, path, ...(Array.isArray(paths) ? paths : [])].filter((file) => typeof file === "string");
}

/** Returns the files named in patches, which may be an argument or an element of a list argument. */
function patched(args: unknown, depth = 2): string[] {
  if (typeof args === "string") return [...args.matchAll(patchLine)].map(([, file = ""]) => file.trim());
  if (typeof args !== "object" || args === null || depth === 0) return [];
  return Object.values(args).flatMap((value) => patched(value, depth - 1));
}

function isPath(file: string): boolean {
  return file !== "" && file.length <= maxPathChars && !file.includes("\n");
}
