import { firstRatio } from "../../../compaction/tokens/calibrate.js";
import type { ResponseItem } from "../../../messages/response-item.js";
import type { ToolSpec } from "../../../messages/tools/tool.js";
import type { TokenCounts } from "../../compactor/token-counts.js";
import type { ConversationCell } from "../state/cell.js";
import { offeredTools } from "../calls/offered-tools.js";
import type { Settings } from "../state/settings.js";
import type { TurnParts } from "../turn/turn-world.js";

/** Cached token counts; tools are described to every model in the same way. */
const toolTokens = new WeakMap<readonly ToolSpec[], number>();

/** Tokens sent with every request besides the history. */
export interface Overhead {
  readonly instructions: number;
  readonly tools: number;
}

/** Measures the context of a conversation in tokens. */
export class ContextSize {
  readonly #parts: TurnParts;
  readonly #cell: ConversationCell;
  readonly #settings: Settings;

  constructor(parts: TurnParts, cell: ConversationCell, settings: Settings) {
    this.#parts = parts;
    this.#cell = cell;
    this.#settings = settings;
  }

  /**
   * Tokens of the next request: as reported by the provider for the items it has seen, counted by us for later ones.
   */
  get active(): number {
    const { history, counted } = this.#cell.state;
    if (counted === undefined || counted.items > history.length) return this.whole(history);
    return counted.tokens + this.sum(history, counted.items);
  }

  /** Tokens of a request with another history. */
  whole(history: readonly ResponseItem[]): number {
    const { instructions, tools } = this.overhead;
    return instructions + tools + this.sum(history, 0);
  }

  get overhead(): Overhead {
    const instructions = this.#counts.ofText(this.#parts.instructions(this.#settings));
    return { instructions, tools: this.#toolTokens() };
  }

  /** The count is corrected by a ratio for models without a public tokenizer. */
  readonly count = (item: ResponseItem): number => Math.ceil(this.#counts.of(item, this.#settings.model) * this.#ratio);

  sum(items: readonly ResponseItem[], from: number): number {
    let tokens = 0;
    for (let index = from; index < items.length; index++) {
      const item = items[index];
      if (item !== undefined) tokens += this.count(item);
    }
    return tokens;
  }

  get #ratio(): number {
    if (this.#counts.isInjected) return 1;
    return this.#cell.tokenRatio ?? firstRatio(this.#settings.model);
  }

  get #counts(): TokenCounts {
    return this.#parts.compaction.counts;
  }

  #toolTokens(): number {
    const specs = offeredTools(this.#parts, this.#cell.state.history);
    const known = toolTokens.get(specs);
    if (known !== undefined) return known;
    const tokens = this.#counts.ofText(JSON.stringify(specs));
    toolTokens.set(specs, tokens);
    return tokens;
  }
}
