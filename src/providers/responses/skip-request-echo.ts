import { brace, bracket, colon, comma, endOfString, endOfValue, quote } from "../transport/json-text.js";

/** What a response repeats of its request. */
const echoed: ReadonlySet<string> = new Set(["instructions", "tools"]);

/**
 * The event that ends a response, as JSON without what the response in it repeats of its request: to parse that would
 * take longer than all the rest of the answer. What is left is an object of JSON if the whole was one.
 */
export function withoutEcho(json: string): string {
  let kept = "";
  let from = 0;
  let depth = 0;
  for (let index = 0; index < json.length; index += 1) {
    const code = json.charCodeAt(index);
    if (code === brace || code === bracket) depth += 1;
    else if (code === brace + 2 || code === bracket + 2) depth -= 1;
    if (code !== quote) continue;
    const end = endOfString(json, index);
    if (depth !== 2 || json.charCodeAt(end + 1) !== colon || !echoed.has(json.slice(index + 1, end))) {
      index = end;
      continue;
    }
    kept += json.slice(from, index);
    from = endOfValue(json, end + 2);
    if (json.charCodeAt(from) === comma) from += 1;
    else kept = kept.replace(/,\s*$/, "");
    index = from - 1;
  }
  return from === 0 ? json : kept + json.slice(from);
}
