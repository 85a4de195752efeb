import type { Attachment } from "../../history-messages.js";
import { countText, minuteOf } from "../export/facts-text.js";
import { partsOf, type Part } from "../export/parts.js";
import { titleOf } from "../export/survey.js";
import type { ExportedTurn } from "../export/turns.js";
import { callHtml } from "./call.js";
import { escaped } from "./escape.js";
import { codeHtml, imageHtml, plainHtml, type Prose } from "./prose.js";

export const untitled = "(nothing was asked)";

export function turnHtml(turn: ExportedTurn, prose: Prose): string {
  const { number, startedAt, usage, model } = turn;
  const title = titleOf(turn) || untitled;
  const tokens = usage.total_tokens === 0 ? [] : [countText(usage.total_tokens, "token")];
  const notes = [minuteOf(startedAt), ...(model === undefined ? [] : [model]), ...tokens].filter((note) => note !== "");
  return [
    `<section id="turn-${number}">\n`,
    `<h2><a href="#turn-${number}">${number}</a> <span dir="auto">${escaped(title)}</span></h2>\n`,
    `<p class="when">${escaped(notes.join(" · "))}</p>\n`,
    ...partsOf(turn.entries).map((part) => partHtml(part, prose)),
    endHtml(turn),
    "</section>\n",
  ].join("");
}

function partHtml(part: Part, prose: Prose): string {
  switch (part.type) {
    case "user":
    case "pinned": {
      const label = part.type === "user" ? "You" : "You, pinned";
      return `<article class="user"><h3>${label}</h3>${plainHtml(part.text)}${part.attachments.map(attachmentHtml).join("")}</article>\n`;
    }
    case "assistant":
      if (part.text.trim() === "") return "";
      return `<article class="assistant"><h3>Assistant</h3>${prose(part.text)}</article>\n`;
    case "thought":
      return folded("thought", "Thought", prose(part.text));
    case "context":
      return folded("context", "What the model was told", plainHtml(part.text));
    case "summary":
      return folded("context", "Summary of what came before", prose(part.text));
    case "call":
      return callHtml(part);
    case "compacted":
      return compactedHtml(part, prose);
    case "replaced":
      return mark(`The history was replaced by ${countText(part.items, "item")}`);
    case "rolled_back":
      return mark(`${countText(part.turns, "turn")} before this taken back`);
    case "other":
      break;
  }
  return folded("context", part.kind, codeHtml(part.json));
}

function compactedHtml({ tokens, summary }: Extract<Part, { type: "compacted" }>, prose: Prose): string {
  const [before, after] = tokens ?? [];
  const sizes =
    before === undefined || after === undefined
      ? ""
      : `: ${countText(before, "token")} became ${countText(after, "token")}`;
  return (
    mark(`Here the history was compacted${sizes}`) +
    (summary === "" ? "" : folded("context", "Summary", prose(summary)))
  );
}

function endHtml({ status, failure }: ExportedTurn): string {
  if (status === "aborted") return mark("Interrupted");
  if (status === "failed") return mark(`Failed: ${failure ?? ""}`);
  return status === "open" ? mark("Not finished") : "";
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
