import { isRecord } from "../../base/is-record.js";

/**
 * A call's arguments as an object. Some servers read the arguments of every call again with each request and refuse what
 * they cannot read, for as long as the call stands in history: the model sees what it wrote as a text instead.
 */
export function sentArguments(text: string): string {
  const args = text.toWellFormed();
  if (args.trim() === "") return "{}";
  return isObject(args) ? args : JSON.stringify({ arguments: args });
}

function isObject(text: string): boolean {
  try {
    return isRecord(JSON.parse(text));
  } catch {
    return false;
  }
}
