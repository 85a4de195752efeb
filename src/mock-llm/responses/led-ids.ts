// The real API remembers which items a reasoning item led to. The mock encodes this in the ids.
/** The id of an item that follows a reasoning item. */
export function idAfterReasoning(id: string, thought: string | undefined): string {
  return thought === undefined ? id : `${id}_${thought}`;
}

/** The id of the reasoning item that led to the item with this id. */
export function reasoningIdIn(id: string): string | undefined {
  return /._(rs_.+)$/.exec(id)?.[1];
}
