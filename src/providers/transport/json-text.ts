/** The offset of the quote that ends the string starting at `start`. An unclosed string ends with the text. */
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

/** The offset where the value starting at `start` ends. */
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

/** Character codes of JSON syntax. The code of a closing bracket or brace is its opening one plus 2. */
export const quote = 34;
export const comma = 44;
export const colon = 58;
export const bracket = 91;
const backslash = 92;
export const brace = 123;
