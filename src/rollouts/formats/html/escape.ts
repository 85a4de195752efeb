const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/**
 * Invisible characters and those that change the text around them: control characters except tab and newline,
 * direction marks, zero-width characters except the joiners of letters and emoji, and lone surrogates.
 */
const unseen =
  // oxlint-disable-next-line no-control-regex -- control characters are what this is about
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]|\p{Cs}/gu;

/** Escapes a text for HTML and shows invisible characters by their code. */
export function escapeHtml(text: string): string {
  return plain(text).replaceAll(unseen, (character) => `<span class="c">${codeOf(character)}</span>`);
}

/** Escapes a text where no elements are allowed: in a double-quoted attribute or a title. */
export function escapedValue(text: string): string {
  return plain(text).replaceAll(unseen, (character) => `[${codeOf(character)}]`);
}

function plain(text: string): string {
  return text.replaceAll("\r\n", "\n").replaceAll(/[&<>"']/g, (character) => entities[character] ?? "");
}

function codeOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}
