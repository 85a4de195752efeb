import { escapeHtml } from "./escape.js";

/** Detects unified diffs, by file names followed by a hunk, and patches, by their first line. */
const unified = /^(?:diff --git .*|--- \S.*\n\+\+\+ \S.*)$/m;
const hunk = /^@@ .*@@/m;
const patch = /^\*\*\* Begin Patch$/m;

export function isDiff(text: string): boolean {
  return patch.test(text) || (unified.test(text) && hunk.test(text));
}

/** Renders a diff. The signs stay, so that added and removed lines differ by more than colour. */
export function diffHtml(text: string): string {
  const lines = text.replace(/\n$/, "").split("\n");
  return `<pre class="diff">${lines.map(lineHtml).join("")}</pre>`;
}

function lineHtml(line: string): string {
  const kind = kindOf(line);
  return `<span${kind === undefined ? "" : ` class="${kind}"`}>${escapeHtml(line)}\n</span>`;
}

function kindOf(line: string): string | undefined {
  if (/^(?:\+\+\+|---|diff |index |\*\*\* )/.test(line)) return "file";
  if (line.startsWith("@@")) return "hunk";
  if (line.startsWith("+")) return "add";
  return line.startsWith("-") ? "del" : undefined;
}
