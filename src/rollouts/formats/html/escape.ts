const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/**
 * What cannot be seen or moves what stands around it: control characters but tab and newline, those that change the
 * direction of writing, those without a width but the joiners of letters and emoji, and halves of pairs.
 */
const unseen =
  // oxlint-disable-next-line no-control-regex -- control characters are what this is about
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]|\p{Cs}/gu;

/** A text as text: nothing in it is obeyed, and what would not be seen is named. */
export function escaped(text: string): string {
  return plain(text).replaceAll(unseen, (character) => `<span class="c">${codeOf(character)}</span>`);
}

/** The same where no elements can be: in an attribute between double quotes, or in a title. */
export function escapedValue(text: string): string {
  return plain(text).replaceAll(unseen, (character) => `[${codeOf(character)}]`);
}

function plain(text: string): string {
  return text.replaceAll("\r\n", "\n").replaceAll(/[&<>"']/g, (character) => entities[character] ?? "");
}

function codeOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}
