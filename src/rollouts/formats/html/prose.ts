import type { MarkedToken, Token, Tokens } from "marked";

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
const invisible =
  // oxlint-disable-next-line no-control-regex -- control characters are what this is about
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]|\p{Cs}/gu;

/** Detects unified diffs, by file names followed by a hunk, and patches, by their first line. */
const unified = /^(?:diff --git .*|--- \S.*\n\+\+\+ \S.*)$/m;

const hunk = /^@@ .*@@/m;

const patch = /^\*\*\* Begin Patch$/m;

const schemes = new Set(["http:", "https:", "mailto:"]);

const rasterImage = /^data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+={0,2}$/;

/** Longer texts are shown unformatted, because parsing them could take very long. */
const maxChars = 50_000;

/** Headings of a message rank below those of the page. */
const headingBelow = 3;
const smallestHeading = 6;

const maxAddressChars = 200;

/** Converts Markdown to HTML. */
export type Prose = (text: string) => string;

/** Loads the Markdown parser on demand. Only the elements below are ever written; HTML in a text is shown as text. */
export async function loadProse(): Promise<Prose> {
  const { Lexer } = await import("marked");
  return (text) => {
    if (text.length > maxChars) return plainHtml(text);
    try {
      return `<div class="prose" dir="auto">${blocks(new Lexer({ gfm: true }).lex(text))}</div>`;
    } catch {
      // The text is nested so deeply that the parser overflows the stack.
      return plainHtml(text);
    }
  };
}

export function plainHtml(text: string): string {
  return `<div class="plain" dir="auto">${escapeHtml(text)}</div>`;
}

export function codeHtml(text: string): string {
  return isDiff(text) ? diffHtml(text) : `<pre>${escapeHtml(text)}</pre>`;
}

function blocks(tokens: readonly Token[]): string {
  return tokens.map((token) => block(token as MarkedToken)).join("");
}

function block(token: MarkedToken): string {
  switch (token.type) {
    case "heading": {
      const name = `h${Math.min(smallestHeading, token.depth + headingBelow - 1)}`;
      return `<${name}>${inline(token.tokens)}</${name}>`;
    }
    case "paragraph":
      return `<p>${inline(token.tokens)}</p>`;
    case "code":
      return /^(?:diff|patch)\b/.test(token.lang ?? "") ? diffHtml(token.text) : codeHtml(token.text);
    case "blockquote":
      return `<blockquote>${blocks(token.tokens)}</blockquote>`;
    case "list":
      return listHtml(token);
    case "table":
      return tableHtml(token);
    case "hr":
      return "<hr>";
    case "space":
    case "def":
      return "";
    case "text":
      return token.tokens === undefined ? named(token.text) : inline(token.tokens);
    case "checkbox":
      return checkbox(token.checked);
    case "html":
      return `<p>${escapeHtml(token.raw.trimEnd())}</p>`;
    default:
      return inlineToken(token);
  }
}

function listHtml({ ordered, start, items }: Tokens.List): string {
  const from = ordered && Number.isSafeInteger(start) && start !== 1 ? ` start="${Number(start)}"` : "";
  const rows = items.map((item) => `<li>${blocks(item.tokens)}</li>`).join("");
  return ordered ? `<ol${from}>${rows}</ol>` : `<ul>${rows}</ul>`;
}

function tableHtml({ header, rows }: Tokens.Table): string {
  const body = rows.map((cells) => rowHtml(cells, "td")).join("");
  return `<div class="table"><table><thead>${rowHtml(header, "th")}</thead><tbody>${body}</tbody></table></div>`;
}

function rowHtml(cells: readonly Tokens.TableCell[], name: "th" | "td"): string {
  const texts = cells.map((cell) => `<${name}${alignment(cell.align)}>${inline(cell.tokens)}</${name}>`);
  return `<tr>${texts.join("")}</tr>`;
}

function alignment(align: Tokens.TableCell["align"]): string {
  return align === "center" || align === "right" ? ` class="${align}"` : "";
}

function inline(tokens: readonly Token[]): string {
  return tokens.map((token) => inlineToken(token as MarkedToken)).join("");
}

function inlineToken(token: MarkedToken): string {
  switch (token.type) {
    case "text":
    case "escape":
      return "tokens" in token && token.tokens !== undefined ? inline(token.tokens) : named(token.text);
    case "strong":
      return `<strong>${inline(token.tokens)}</strong>`;
    case "em":
      return `<em>${inline(token.tokens)}</em>`;
    case "del":
      return `<del>${inline(token.tokens)}</del>`;
    case "codespan":
      return `<code>${escapeHtml(token.text)}</code>`;
    case "br":
      return "<br>";
    case "link":
      return linkHtml(token.href, inline(token.tokens));
    case "image":
      return imageHtml(token.href, token.text);
    case "checkbox":
      return checkbox(token.checked);
    default:
      return escapeHtml(token.raw);
  }
}

function checkbox(isChecked: boolean): string {
  return isChecked ? "☑ " : "☐ ";
}

function linkHtml(href: string, content: string): string {
  const url = safeLink(href);
  if (url === undefined) return `${content} <span class="address">${escapeHtml(`(${href})`)}</span>`;
  const address = escapedValue(url);
  return `<a href="${address}" title="${address}" rel="noopener noreferrer nofollow">${content}</a>`;
}

/** Embeds inline images; for others it shows the address, because the page must not fetch anything. */
export function imageHtml(url: string, description: string): string {
  if (isInlineImage(url)) return `<img src="${escapedValue(url)}" alt="${escapedValue(description)}">`;
  return `<span class="address">${escapeHtml(`[image: ${description} ${url.slice(0, maxAddressChars)}]`)}</span>`;
}

const known: Readonly<Record<string, string>> = {
  "&amp;amp;": "&amp;",
  "&amp;lt;": "&lt;",
  "&amp;gt;": "&gt;",
  "&amp;quot;": "&quot;",
  "&amp;#39;": "&#39;",
  "&amp;nbsp;": "&nbsp;",
};

/** Restores the harmless HTML entities that Markdown allows. */
function named(raw: string): string {
  return escapeHtml(raw).replaceAll(/&amp;(?:amp|lt|gt|quot|#39|nbsp);/g, (entity) => known[entity] ?? entity);
}

/** Returns an absolute address with a harmless scheme, so that following the link runs no code. */
function safeLink(href: string): string | undefined {
  if (!URL.canParse(href)) return undefined;
  const url = new URL(href);
  return schemes.has(url.protocol) ? url.href : undefined;
}

/** Whether the URL contains the image itself, in a raster format that cannot contain scripts. */
function isInlineImage(url: string): boolean {
  return rasterImage.test(url);
}

function isDiff(text: string): boolean {
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

/** Escapes a text for HTML and shows invisible characters by their code. */
export function escapeHtml(text: string): string {
  return plain(text).replaceAll(invisible, (character) => `<span class="c">${codeOf(character)}</span>`);
}

/** Escapes a text where no elements are allowed: in a double-quoted attribute or a title. */
export function escapedValue(text: string): string {
  return plain(text).replaceAll(invisible, (character) => `[${codeOf(character)}]`);
}

function plain(text: string): string {
  return text.replaceAll("\r\n", "\n").replaceAll(/[&<>"']/g, (character) => entities[character] ?? "");
}

function codeOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}
