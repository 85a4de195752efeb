import type { Attachment } from "../../history-messages.js";
import { countText, minuteOf } from "../facts-text.js";
import { partsOf, type Part } from "../parts.js";
import { titleOf } from "../survey.js";
import type { ExportedTurn } from "../turns.js";
import { callHtml } from "./call.js";
import { escaped } from "./escape.js";
import { codeHtml, imageHtml, plainHtml, proseHtml } from "./prose.js";

export const untitled = "(nothing was asked)";

export function turnHtml(turn: ExportedTurn): string {
  const { number, startedAt, usage, model } = turn;
  const title = titleOf(turn) || untitled;
  const tokens = usage.total_tokens === 0 ? [] : [countText(usage.total_tokens, "token")];
  const notes = [minuteOf(startedAt), ...(model === undefined ? [] : [model]), ...tokens].filter((note) => note !== "");
  return [
    `<section id="turn-${number}">\n`,
    `<h2><a href="#turn-${number}">${number}</a> <span dir="auto">${escaped(title)}</span></h2>\n`,
    `<p class="when">${escaped(notes.join(" · "))}</p>\n`,
    ...partsOf(turn.entries).map(partHtml),
    endHtml(turn),
    "</section>\n",
  ].join("");
}

function partHtml(part: Part): string {
  switch (part.type) {
    case "user":
    case "pinned": {
      const label = part.type === "user" ? "You" : "You, pinned";
      return `<article class="user"><h3>${label}</h3>${textHtml(part.text)}${part.attachments.map(attachmentHtml).join("")}</article>\n`;
    }
    case "assistant":
      if (part.text.trim() === "") return "";
      return `<article class="assistant"><h3>Assistant</h3><div class="prose" dir="auto">${proseHtml(part.text)}</div></article>\n`;
    case "thought":
      return folded("thought", "Thought", `<div class="prose" dir="auto">${proseHtml(part.text)}</div>`);
    case "context":
      return folded("context", "What the model was told", plainHtml(part.text));
    case "summary":
      return folded(
        "context",
        "Summary of what came before",
        `<div class="prose" dir="auto">${proseHtml(part.text)}</div>`,
      );
    case "call":
      return callHtml(part);
    case "compacted":
      return compactedHtml(part);
    case "replaced":
      return mark(`The history was replaced by ${countText(part.items, "item")}`);
    case "rolled_back":
      return mark(`${countText(part.turns, "turn")} before this taken back`);
    case "other":
      break;
  }
  return folded("context", part.kind, codeHtml(part.json));
}

function compactedHtml({ tokens, summary }: Extract<Part, { type: "compacted" }>): string {
  const [before, after] = tokens ?? [];
  const sizes =
    before === undefined || after === undefined
      ? ""
      : `: ${countText(before, "token")} became ${countText(after, "token")}`;
  const said = `<div class="prose" dir="auto">${proseHtml(summary)}</div>`;
  return mark(`Here the history was compacted${sizes}`) + (summary === "" ? "" : folded("context", "Summary", said));
}

function endHtml({ status, failure }: ExportedTurn): string {
  if (status === "aborted") return mark("Interrupted");
  if (status === "failed") return mark(`Failed: ${failure ?? ""}`);
  return status === "open" ? mark("Not finished") : "";
}

function textHtml(text: string): string {
  return `<div class="plain" dir="auto">${escaped(text)}</div>`;
}

function attachmentHtml(part: Attachment): string {
  return `<p>${part.type === "input_image" ? imageHtml(part.image_url, "") : "[a sound]"}</p>`;
}

function folded(kind: string, title: string, content: string): string {
  return `<details class="${kind}"><summary>${escaped(title)}</summary>${content}</details>\n`;
}

function mark(text: string): string {
  return `<p class="mark">${escaped(text)}</p>\n`;
}
