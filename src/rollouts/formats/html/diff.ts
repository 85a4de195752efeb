import { escaped } from "./escape.js";

/** A unified diff or a patch, in its own words: a hunk that follows the names of its files, or where a patch begins. */
const unified = /^(?:diff --git .*|--- \S.*\n\+\+\+ \S.*)$/m;
const hunk = /^@@ .*@@/m;
const patch = /^\*\*\* Begin Patch$/m;

export function isDiff(text: string): boolean {
  return patch.test(text) || (unified.test(text) && hunk.test(text));
}

/** A diff with what was added and taken out told apart by more than its colour: the signs stay. */
export function diffHtml(text: string): string {
  const lines = text.replace(/\n$/, "").split("\n");
  return `<pre class="diff">${lines.map(lineHtml).join("")}</pre>`;
}

function lineHtml(line: string): string {
  const kind = kindOf(line);
  return `<span${kind === undefined ? "" : ` class="${kind}"`}>${escaped(line)}\n</span>`;
}

function kindOf(line: string): string | undefined {
  if (/^(?:\+\+\+|---|diff |index |\*\*\* )/.test(line)) return "file";
  if (line.startsWith("@@")) return "hunk";
  if (line.startsWith("+")) return "add";
  return line.startsWith("-") ? "del" : undefined;
}
