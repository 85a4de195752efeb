/** Shorter ones stand in texts by chance. */
export const minSecretChars = 6;
/** A line of a longer secret that is long enough to be one by itself. */
const minLineChars = 16;

/** How a secret may stand in a text: as it is, escaped, or encoded alone or together with what stands around it. */
export function formsOf(secret: string): string[] {
  const json = escaped(secret);
  const base64 = [0, 1, 2].map((shift) => base64At(secret, shift)).filter((form) => form.length >= minSecretChars);
  const url = base64.map((form) => form.replaceAll("+", "-").replaceAll("/", "_"));
  return [secret, json, ...base64, ...url, ...uriForms(secret)];
}

/** The same, and what else is found in files: escaped twice, in hexadecimal, and line by line where it has several. */
export function allFormsOf(secret: string): string[] {
  const json = escaped(secret);
  const hex = Buffer.from(secret).toString("hex");
  const slashed = secret.replaceAll("/", "\\/");
  const lines = secret.includes("\n") ? linesOf(secret) : [];
  return [...formsOf(secret), escaped(json), slashed, hex, hex.toUpperCase(), ...lines];
}

/** Of a key in several lines the first and the last say only that it is one. */
function linesOf(secret: string): string[] {
  const lines = secret.split(/\r?\n/).map((line) => line.trim());
  return lines.filter((line) => line.length >= minLineChars && !line.startsWith("-----"));
}

/** As it stands in a JSON text. */
export function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** The characters base64 has for a text that begins at this offset of a group of three bytes, whatever stands around. */
function base64At(secret: string, shift: number): string {
  const bytes = Buffer.concat([Buffer.alloc(shift), Buffer.from(secret)]);
  return bytes.toString("base64").slice(shift === 0 ? 0 : shift + 1, Math.floor((bytes.length * 8) / 6));
}

function uriForms(secret: string): string[] {
  const encoded = encodeURIComponent(secret.toWellFormed());
  const lower = encoded.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());
  return [encoded, lower, encoded.replaceAll("%20", "+")];
}
