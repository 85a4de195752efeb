import { cleanLine, fitText } from "./rows.js";
import type { View } from "./view.js";

export interface Status {
  readonly model: string;
  readonly effort?: string | undefined;
  /** As it is to be shown, for example `~/project`. */
  readonly folder: string;
  readonly branch?: string | undefined;
  readonly context?:
    { readonly used: number; readonly window: number; readonly compactAt?: number | undefined } | undefined;
  /** In US dollars. */
  readonly cost?: number | undefined;
  /** False if the conversation or its last turn is not on disk. */
  readonly saved: boolean;
  /** `workspace-write`. */
  readonly sandbox: string;
  /** `on-request`. */
  readonly approvals: string;
  /** The other conversations of this process. */
  readonly others?: { readonly running: number; readonly waiting: number } | undefined;
}

/** The facts about the conversation on one line. Leaves out the least important ones where the line is too narrow. */
export function statusLine({ model, folder }: Status, view: View): string {
  return fitText(cleanLine(`${model} ${folder}`), view.columns);
}
