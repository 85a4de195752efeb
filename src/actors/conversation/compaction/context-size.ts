import type { ContextFacts, HistorySource } from "../../../messages/actors/compactor.js";
import type { ResponseItem } from "../../../messages/response-item.js";
import type { ToolSpec } from "../../../messages/tools/tool.js";
import { firstRatio } from "../../../compaction/tokens/estimate-tokens.js";
import { type ConversationContext, offeredTools } from "../conversation-context.js";
import type { Settings } from "../state/settings.js";

/** Cached token counts; tools are described to every model in the same way. */
const toolTokens = new WeakMap<readonly ToolSpec[], number>();

/** The history of a conversation at this moment, as its compactor needs it. */
export interface HistoryRequest {
  readonly conversationId: string;
  readonly generation: number;
  readonly history: HistorySource;
  readonly context: ContextFacts;
}

export async function historyRequest(context: ConversationContext, settings: Settings): Promise<HistoryRequest> {
  const { conversationId, cell } = context;
  const [generation, facts] = [cell.generation, new ContextSize(context, settings).facts];
  return { conversationId, generation, history: await historySource(context), context: facts };
}

/** In the compactor's own thread sending the items costs nothing. From another one, it reads them from the file. */
async function historySource({ cell, rollout, compaction }: ConversationContext): Promise<HistorySource> {
  const items = [...cell.state.history];
  if (!compaction.isInOtherThread || rollout.path === null) return { kind: "items", items };
  const { path, bytes } = rollout;
  const { status } = await rollout.flush();
  return status === "saved"
    ? { kind: "rollout", path, bytes, tail: [], length: items.length }
    : { kind: "items", items };
}

/**
 * Measures the next request without asking the compactor: by the newest count of the provider or the compactor, and
 * estimates of the items since.
 */
export class ContextSize {
  readonly #context: ConversationContext;
  readonly #settings: Settings;

  constructor(context: ConversationContext, settings: Settings) {
    this.#context = context;
    this.#settings = settings;
  }

  get active(): number {
    const { history } = this.#context.cell.state;
    const counted = this.#counted;
    return counted === undefined ? this.whole(history) : counted.tokens + this.sum(history, counted.items);
  }

  /** Whether the count covers the whole history. */
  get isCounted(): boolean {
    const { history } = this.#context.cell.state;
    return this.#context.compaction.estimates.isInjected || this.#counted?.items === history.length;
  }

  /** Tokens of a request with another history. */
  whole(history: readonly ResponseItem[]): number {
    const { instructions, tools } = this.overhead;
    return instructions + tools + this.sum(history, 0);
  }

  /** Tokens sent with every request besides the history. */
  get overhead(): { readonly instructions: number; readonly tools: number } {
    const context = this.#context;
    const instructions = context.compaction.estimates.ofText(context.instructions(this.#settings));
    return { instructions, tools: this.#toolTokens() };
  }

  /** The estimated tokens of the items from a place on, corrected by a ratio for models without a public tokenizer. */
  sum(items: readonly ResponseItem[], from: number): number {
    const { estimates } = this.#context.compaction;
    const ratio = this.#ratio;
    let tokens = 0;
    for (let place = from; place < items.length; place++) {
      const item = items[place];
      if (item !== undefined) tokens += Math.ceil(estimates.of(item) * ratio);
    }
    return tokens;
  }

  /** The facts that the compactor needs to measure a history. */
  get facts(): ContextFacts {
    const context = this.#context;
    const { cell } = context;
    const { tokens: window, isAssumed } = context.compaction.window(this.#settings);
    const { instructions, tools } = this.overhead;
    return {
      model: this.#settings.model,
      window,
      isAssumedWindow: isAssumed,
      limit: context.compaction.limit(this.#settings),
      overhead: instructions + tools,
      ratio: this.#ratio,
      reported: cell.state.counted,
    };
  }

  /** The newest count of the provider or the compactor; the provider's is preferred. */
  get #counted(): { readonly tokens: number; readonly items: number } | undefined {
    const { state, counted: ours, generation } = this.#context.cell;
    const length = state.history.length;
    const reported = state.counted !== undefined && state.counted.items <= length ? state.counted : undefined;
    const isValid = ours?.generation === generation && ours.model === this.#settings.model && ours.items <= length;
    return isValid && ours.items > (reported?.items ?? 0) ? ours : reported;
  }

  get #ratio(): number {
    const context = this.#context;
    const { cell } = context;
    return context.compaction.estimates.isInjected ? 1 : (cell.tokenRatio ?? firstRatio(this.#settings.model));
  }

  #toolTokens(): number {
    const context = this.#context;
    const { cell } = context;
    const specs = offeredTools(context, cell.state.history);
    const known = toolTokens.get(specs) ?? context.compaction.estimates.ofText(JSON.stringify(specs));
    toolTokens.set(specs, known);
    return known;
  }
}
