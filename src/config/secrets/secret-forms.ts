/** Shorter strings occur in texts by chance. */
export const minSecretChars = 6;
/** The minimum length of a line of a longer secret that is masked on its own. */
const minLineChars = 16;

/**
 * The forms in which a secret may appear in a text: as it is, escaped, or encoded alone or together with its
 * surroundings.
 */
export function encodingsOf(secret: string): string[] {
  const json = escapeJson(secret);
  const base64 = [0, 1, 2].map((shift) => base64At(secret, shift)).filter((form) => form.length >= minSecretChars);
  const url = base64.map((form) => form.replaceAll("+", "-").replaceAll("/", "_"));
  return [secret, json, ...base64, ...url, ...uriForms(secret)];
}

/** Adds the forms found in files: escaped twice, in hexadecimal, and line by line for a secret of several lines. */
export function allEncodingsOf(secret: string): string[] {
  const json = escapeJson(secret);
  const hex = Buffer.from(secret).toString("hex");
  const slashed = secret.replaceAll("/", "\\/");
  const lines = secret.includes("\n") ? linesOf(secret) : [];
  return [...encodingsOf(secret), escapeJson(json), slashed, hex, hex.toUpperCase(), ...lines];
}

/** Skips the first and last line of a PEM key, which only mark it as one. */
function linesOf(secret: string): string[] {
  const lines = secret.split(/\r?\n/).map((line) => line.trim());
  return lines.filter((line) => line.length >= minLineChars && !line.startsWith("-----"));
}

/** The text as it appears inside a JSON string. */
export function escapeJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** The base64 characters of a text that begins at this offset in a group of three bytes, whatever surrounds it. */
function base64At(secret: string, shift: number): string {
  const bytes = Buffer.concat([Buffer.alloc(shift), Buffer.from(secret)]);
  return bytes.toString("base64").slice(shift === 0 ? 0 : shift + 1, Math.floor((bytes.length * 8) / 6));
}

function uriForms(secret: string): string[] {
  const encoded = encodeURIComponent(secret.toWellFormed());
  const lower = encoded.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());
  return [encoded, lower, encoded.replaceAll("%20", "+")];
}
