/** Where the string that begins at `start` ends; what is not closed is no JSON, and ends with the text. */
export function endOfString(json: string, start: number): number {
  let end = json.indexOf('"', start + 1);
  while (end !== -1 && isEscaped(json, end)) end = json.indexOf('"', end + 1);
  return end === -1 ? json.length : end;
}

function isEscaped(json: string, index: number): boolean {
  let backslashes = 0;
  while (json.charCodeAt(index - 1 - backslashes) === backslash) backslashes += 1;
  return backslashes % 2 === 1;
}

/** Where the value that begins at `start` ends, whatever is in it. */
export function endOfValue(json: string, start: number): number {
  let depth = 0;
  for (let index = start; index < json.length; index += 1) {
    const code = json.charCodeAt(index);
    if (code === quote) index = endOfString(json, index);
    else if (code === bracket || code === brace) depth += 1;
    else if (code === bracket + 2 || code === brace + 2) depth -= 1;
    else if (code === comma && depth === 0) return index;
    if (depth < 0) return index;
  }
  return json.length;
}

/** What JSON is made of; a closing bracket or brace is two further on than its opening one. */
export const quote = 34;
export const comma = 44;
export const colon = 58;
export const bracket = 91;
const backslash = 92;
export const brace = 123;
