import { isRecord } from "../base/is-record.js";

/**
 * Whether a call's arguments are a JSON object. OpenAI's own servers may not check this, but many compatible ones parse
 * the arguments in every request, and reject the whole conversation if they cannot.
 */
export function isJsonObject(text: string): boolean {
  try {
    return isRecord(JSON.parse(text));
  } catch {
    return false;
  }
}
