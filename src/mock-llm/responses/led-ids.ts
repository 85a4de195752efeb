// The API remembers what a thought has led to; here the ids say it.

/** The id of what came after a thought. */
export function ledId(id: string, thought: string | undefined): string {
  return thought === undefined ? id : `${id}_${thought}`;
}

/** The id of the thought that led to what has this id. */
export function thoughtBefore(id: string): string | undefined {
  return /._(rs_.+)$/.exec(id)?.[1];
}
