import type { ContentPart, ResponseItem } from "../../messages/response-item.js";
import type { OwnLine } from "../../messages/rollout-line.js";
import { TurnGrouping } from "../turns.js";

export interface HistorySize {
  readonly turns: number;
  readonly items: number;
}

/** Counts what a history would hold without holding it: of each item only what the fold looks at is kept. */
export class HistoryCounter {
  readonly #turns = new TurnGrouping();

  add(line: OwnLine): void {
    this.#turns.add(thinLine(line));
  }

  get size(): HistorySize {
    const { turns } = this.#turns;
    return { turns: turns.length, items: turns.reduce((sum, turn) => sum + turn.items.length, 0) };
  }
}

function thinLine(line: OwnLine): OwnLine {
  if (line.type === "response_item") return { ...line, payload: thin(line.payload) };
  if (line.type === "compacted" && line.payload.replacement_history) {
    return { ...line, payload: { message: "", replacement_history: line.payload.replacement_history.map(thin) } };
  }
  if (line.type === "cody" && line.payload.type === "history_replaced") {
    return { ...line, payload: { type: "history_replaced", items: line.payload.items.map(thin) } };
  }
  return line;
}

/** What a person said decides what outlives a compaction, and where turns begin; of the rest only the kind counts. */
function thin(item: ResponseItem): ResponseItem {
  if (item.type !== "message") return { type: item.type } as ResponseItem;
  const { type, role, content, summary } = item;
  const flag = summary === true ? { summary } : {};
  return { type, role, content: role === "user" ? content.map(withoutImage) : [], ...flag };
}

function withoutImage(part: ContentPart): ContentPart {
  return "text" in part ? part : { type: "input_image", image_url: "" };
}
