import type { ApprovalRequest } from "../../../messages/tools/approval.js";
import { fitText, cleanLine } from "./rows.js";
import type { View } from "./view.js";

export interface ApprovalChoice {
  readonly key: string;
  readonly text: string;
}

export interface ApprovalPanel {
  readonly request: ApprovalRequest;
  readonly choices: readonly ApprovalChoice[];
  /** The index of the selected choice. */
  readonly selected: number;
  /** The number of open requests, with this one. */
  readonly count: number;
  /** The first row of the command or change that is shown, when it is too long for the panel. */
  readonly offset?: number | undefined;
}

/** The question before a command or a change, with the whole command as far as there are rows for it. */
export function approvalLines({ request, choices }: ApprovalPanel, view: View, maxRows: number): string[] {
  return [request.command.join(" "), ...choices.map(({ key, text }) => `[${key}] ${text}`)]
    .map((line) => fitText(cleanLine(line), view.columns))
    .slice(0, maxRows);
}
