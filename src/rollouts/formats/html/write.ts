import { createHash } from "node:crypto";
import { version } from "../../../version.js";
import type { WriterInput } from "../export/writing.js";
import { factRows } from "../export/facts-text.js";
import { readTurns } from "../export/played-turns.js";
import type { ExportFacts } from "../export/survey.js";
import { escapeHtml, escapedValue } from "./escape.js";
import { loadProse } from "./prose.js";
import { style } from "./style.js";
import { turnHtml, untitled } from "./turn.js";

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
