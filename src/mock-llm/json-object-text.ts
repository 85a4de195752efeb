import { isRecord } from "../base/is-record.js";

/**
 * Whether a call's arguments are an object. OpenAI's own servers may not look, but many that speak its APIs read them
 * again with every request, and refuse a conversation for ever when they cannot.
 */
export function isJsonObject(text: string): boolean {
  try {
    return isRecord(JSON.parse(text));
  } catch {
    return false;
  }
}
