import { shortened } from "../../base/text/truncate.js";
import { visible } from "../../base/text/visible.js";

/** The id, name and title by which users recognize a conversation. */
export interface ConversationLabel {
  readonly id: string;
  readonly name?: string;
  /** First line of the user's first message. */
  readonly title?: string;
}

const maxChars = 60;

/** Formats an id with the name or else the title, on one line and without terminal control characters. */
export function labelText({ id, name, title }: ConversationLabel): string {
  const called = name ?? title;
  return called === undefined ? id : `${id} (${visible(shortened(called, maxChars))})`;
}
