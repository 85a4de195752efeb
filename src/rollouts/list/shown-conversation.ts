import { shortened } from "../../base/text/shortened.js";
import { visible } from "../../base/text/visible.js";

/** What somebody knows a conversation by. */
export interface Called {
  readonly id: string;
  readonly name?: string;
  /** The first line of what a person said first. */
  readonly title?: string;
}

const maxChars = 60;

/** An id with the name beside it, or else with what was said first, on one line and without what a terminal obeys. */
export function shownConversation({ id, name, title }: Called): string {
  const called = name ?? title;
  return called === undefined ? id : `${id} (${visible(shortened(called, maxChars))})`;
}
