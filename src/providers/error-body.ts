/**
 * The SDKs keep only what stands under `error` in the body of an error; some compatible servers put their text
 * elsewhere, so theirs is moved there.
 */
export function errorBody(text: string): string {
  if (!text.trimStart().startsWith("{")) return text;
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === "object" && body !== null && !("error" in body) ? JSON.stringify({ error: body }) : text;
  } catch {
    return text;
  }
}
