import { createHash } from "node:crypto";
import { version } from "../../../version.js";
import { factRows, type ExportFacts, type WriterInput } from "../export/export-facts.js";
import { readTurns } from "../export/turns.js";
import { escapeHtml, escapedValue, loadProse } from "./prose.js";
import { turnHtml, untitled } from "./turn.js";

/** The complete style of the page; nothing is loaded. Colours follow the preference of the reader's system. */
const style = `
:root {
  color-scheme: light dark;
  --page: #ffffff; --text: #1f2328; --quiet: #59636e; --line: #d1d9e0; --soft: #f6f8fa; --link: #0a58ca;
  --user: #eef4ff; --user-edge: #3b6fd4; --add: #e6f6ea; --add-text: #0f5323; --del: #fdecea; --del-text: #82071e;
  --hunk: #eaf1fb; --warn: #fff3d6; --warn-text: #6b4a00;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #0f1318; --text: #e4e8ec; --quiet: #9aa5b1; --line: #303841; --soft: #181e25; --link: #79b0ff;
    --user: #16233b; --user-edge: #6a9bff; --add: #12301c; --add-text: #a6e8b8; --del: #3a1518; --del-text: #ffb9b4;
    --hunk: #1a2738; --warn: #3b2c0a; --warn-text: #ffd98a;
  }
}
* { box-sizing: border-box; }
html { scroll-behavior: smooth; scroll-padding-top: 1rem; }
body { margin: 0; background: var(--page); color: var(--text); font: 1rem/1.6 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; overflow-wrap: break-word; }
.layout { max-width: 52rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
header h1 { font-size: 1.75rem; line-height: 1.25; margin: 0 0 1rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.15rem 1rem; margin: 0 0 1.5rem; font-size: 0.9rem; }
dt { color: var(--quiet); }
dd { margin: 0; min-width: 0; }
a { color: var(--link); }
nav { border: 1px solid var(--line); border-radius: 8px; padding: 0.75rem 1rem; font-size: 0.9rem; margin-bottom: 2rem; }
nav h2 { font-size: 0.8rem; text-transform: uppercase; letter-spacing: 0.06em; color: var(--quiet); margin: 0 0 0.4rem; }
nav ol { list-style: none; margin: 0; padding: 0; }
nav li { display: flex; gap: 0.6rem; padding: 0.12rem 0; }
nav li span { color: var(--quiet); min-width: 1.5rem; text-align: right; font-variant-numeric: tabular-nums; }
nav a { color: inherit; text-decoration: none; min-width: 0; }
nav a:hover, h2 a:hover { text-decoration: underline; }
section { border-top: 1px solid var(--line); padding-top: 1.25rem; margin-top: 2.25rem; }
h2 { font-size: 1.25rem; line-height: 1.35; margin: 0; }
h2 a { color: var(--quiet); text-decoration: none; margin-right: 0.35rem; font-variant-numeric: tabular-nums; }
.when { color: var(--quiet); font-size: 0.85rem; margin: 0.15rem 0 1rem; }
article { margin: 1rem 0; }
article h3 { font-size: 0.8rem; font-weight: 600; color: var(--quiet); margin: 0 0 0.25rem; }
.user { background: var(--user); border-left: 3px solid var(--user-edge); border-radius: 0 8px 8px 0; padding: 0.7rem 1rem; }
.plain { white-space: pre-wrap; tab-size: 4; }
.prose > :first-child { margin-top: 0; }
.prose > :last-child { margin-bottom: 0; }
.prose h3, .prose h4, .prose h5, .prose h6 { font-size: 1.05rem; color: var(--text); margin: 1.2rem 0 0.4rem; line-height: 1.35; }
.prose p, .prose ul, .prose ol { margin: 0.6rem 0; }
.prose li { margin: 0.2rem 0; }
blockquote { margin: 0.6rem 0; padding-left: 1rem; border-left: 3px solid var(--line); color: var(--quiet); }
code, pre { font-family: ui-monospace, SFMono-Regular, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace; font-size: 0.875em; }
:not(summary) > code { background: var(--soft); border-radius: 4px; padding: 0.12em 0.35em; }
pre { background: var(--soft); border: 1px solid var(--line); border-radius: 6px; padding: 0.7rem 0.9rem; margin: 0.5rem 0; line-height: 1.45; overflow: auto; max-height: 32rem; white-space: pre; tab-size: 4; unicode-bidi: plaintext; }
.diff { padding-left: 0; padding-right: 0; }
.diff span { display: block; padding: 0 0.9rem; min-width: max-content; }
.diff .add { background: var(--add); color: var(--add-text); }
.diff .del { background: var(--del); color: var(--del-text); }
.diff .hunk { background: var(--hunk); color: var(--quiet); }
.diff .file { font-weight: 600; }
.diff .c, pre .c { display: inline; padding: 0 0.25em; }
details { border: 1px solid var(--line); border-radius: 6px; margin: 0.6rem 0; }
summary { cursor: pointer; padding: 0.4rem 0.8rem; font-size: 0.9rem; color: var(--quiet); border-radius: 6px; }
summary:hover { background: var(--soft); }
summary code { color: var(--text); overflow-wrap: anywhere; }
details[open] > summary { border-bottom: 1px solid var(--line); border-radius: 6px 6px 0 0; }
details > :not(summary) { margin-left: 0.8rem; margin-right: 0.8rem; }
details > :last-child:not(summary) { margin-bottom: 0.8rem; }
.given { margin-top: 0.35rem; margin-bottom: 0.35rem; font-size: 0.9rem; }
.given > span { color: var(--quiet); margin-right: 0.5rem; font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: 0.8rem; }
details > .prose, details > .plain { margin: 0.7rem 0.8rem; font-size: 0.92rem; }
details h4 { font-size: 0.8rem; color: var(--quiet); margin-top: 0.8rem; margin-bottom: 0.2rem; }
details h5 { font-size: 0.8rem; font-weight: 500; color: var(--quiet); margin-top: 0.5rem; margin-bottom: 0; font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
.thought .prose { color: var(--quiet); }
.context .plain { max-height: 24rem; overflow: auto; }
.badge { background: var(--warn); color: var(--warn-text); border-radius: 999px; padding: 0.05rem 0.55rem; font-size: 0.78rem; white-space: nowrap; }
.mark { display: flex; align-items: center; gap: 0.8rem; color: var(--quiet); font-size: 0.85rem; margin: 1.2rem 0; text-align: center; }
.mark::before, .mark::after { content: ""; flex: 1; border-top: 1px dashed var(--line); }
.c { background: var(--warn); color: var(--warn-text); border-radius: 3px; padding: 0 0.25em; font-size: 0.8em; font-family: ui-monospace, Menlo, Consolas, monospace; }
.address { color: var(--quiet); font-size: 0.9em; overflow-wrap: anywhere; }
.table { overflow-x: auto; margin: 0.6rem 0; }
table { border-collapse: collapse; font-size: 0.92rem; }
th, td { border: 1px solid var(--line); padding: 0.3rem 0.7rem; text-align: start; vertical-align: top; }
th { background: var(--soft); }
.center { text-align: center; }
.right { text-align: right; }
img { max-width: 100%; height: auto; border-radius: 6px; }
hr { border: 0; border-top: 1px solid var(--line); }
footer { color: var(--quiet); font-size: 0.85rem; margin-top: 3rem; border-top: 1px solid var(--line); padding-top: 1rem; }
a:focus-visible, summary:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
@media (min-width: 80rem) {
  .layout { max-width: 76rem; display: grid; grid-template-columns: 18rem minmax(0, 1fr); column-gap: 3rem; }
  header, main, footer { grid-column: 2; }
  nav { grid-column: 1; grid-row: 1 / span 3; position: sticky; top: 1.5rem; align-self: start; max-height: calc(100vh - 3rem); overflow: auto; }
  main > section:first-child { margin-top: 0; }
}
@media (prefers-reduced-motion: reduce) { html { scroll-behavior: auto; } }
@media print {
  :root { --page: #fff; --text: #000; --quiet: #444; --line: #bbb; --soft: #fff; --user: #fff; --link: #000; }
  .layout { display: block; max-width: none; padding: 0; }
  nav { position: static; max-height: none; overflow: visible; }
  pre, .context .plain { max-height: none; overflow: visible; white-space: pre-wrap; }
  h2, summary { break-after: avoid; }
  .user { break-inside: avoid; }
}
`;

/** Writes one self-contained page without scripts or external resources; calls and thoughts can be expanded. */
export async function* writeHtml({ survey, batches }: WriterInput): AsyncGenerator<string> {
  const prose = await loadProse();
  yield headHtml(survey);
  for await (const turn of readTurns(batches)) yield turnHtml(turn, prose);
  yield `</main>\n<footer>Written by cody ${escapeHtml(version)}</footer>\n</div>\n</body>\n</html>\n`;
}

/** Content security policy: if content ever gets past the escaping, it cannot run or fetch anything. */
const policy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'`,
  "img-src data:",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

function headHtml(survey: ExportFacts): string {
  const facts = factRows(survey).map(([label, value]) => `<dt>${escapeHtml(label)}</dt><dd>${escapeHtml(value)}</dd>`);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta http-equiv="x-dns-prefetch-control" content="off">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapedValue(survey.title)}</title>
<style>${style}</style>
</head>
<body>
<div class="layout">
<header>
<h1 dir="auto">${escapeHtml(survey.title)}</h1>
<dl>
${facts.join("\n")}
</dl>
</header>
${contentsHtml(survey)}
<main>
`;
}

function contentsHtml({ headings }: ExportFacts): string {
  const rows = headings.map(
    ({ number, title }) =>
      `<li><span>${number}</span><a href="#turn-${number}" dir="auto">${escapeHtml(title || untitled)}</a></li>`,
  );
  return `<nav aria-label="Contents">\n<h2>Contents</h2>\n<ol>\n${rows.join("\n")}\n</ol>\n</nav>`;
}
