import type { ItemKind, ItemSize } from "../../messages/compaction.js";

/** The display names of the kinds of items, in the order of the report. */
const names = {
  instructions: ["instructions", "instructions"],
  tools: ["tools", "tools"],
  context: ["context", "context"],
  pinned: ["pinned", "pinned"],
  summary: ["summary", "summary"],
  user: ["user", "user"],
  assistant: ["assistant", "assistant"],
  reasoning: ["reasoning", "reasoning"],
  tool_call: ["tool call", "tool calls"],
  tool_output: ["tool output", "tool outputs"],
  other: ["other", "other"],
} satisfies Record<ItemKind, readonly [one: string, all: string]>;

export interface ItemGroup {
  readonly name: string;
  readonly count: number;
  readonly tokens: number;
}

export function kindName(kind: ItemKind): string {
  return names[kind][0];
}

/** The count and tokens of the items of each kind; kinds without items are left out. */
export function groupsOf(items: readonly ItemSize[]): ItemGroup[] {
  return Object.entries(names).flatMap(([kind, [, name]]) => {
    const own = items.filter((item) => item.kind === kind);
    const tokens = own.reduce((sum, item) => sum + item.tokens, 0);
    return own.length === 0 ? [] : [{ name, count: own.length, tokens }];
  });
}
