import { quotedCommand } from "../../../base/text/quoted-command.js";
import { shortened } from "../../../base/text/truncate.js";
import type { ApprovalRequest, CommandPrefix, ReviewDecision } from "../../../messages/tools/approval.js";
import type { Key } from "../screen/key.js";
import type { ApprovalChoice } from "../approval-text.js";
import { approvalLines } from "../view/approval.js";
import { fitText } from "../view/rows.js";
import type { View } from "../view/view.js";

/** How long the question must have been on the screen, without any key, before a key answers it. */
const armMs = 600;
const maxPrefixChars = 60;
const pageRows = 8;

interface Choice extends ApprovalChoice {
  readonly decision: ReviewDecision | "instructions";
}

/** `instructions`: the person wants to say what to do instead. */
type Answer = { readonly request: ApprovalRequest; readonly decision: ReviewDecision | "instructions" };

/** The open approval requests of the conversation on the screen, of which one is shown. */
export class ApprovalPanel {
  readonly #now: () => number;
  #requests: readonly ApprovalRequest[] = [];
  #index = 0;
  #selected = 0;
  #offset = 0;
  /** When the shown request was drawn first, or a key was pressed after that. */
  #quietSince: number | undefined;
  #isFocused = false;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Follows the conversation. The shown request stays the same while it is open. */
  set requests(requests: readonly ApprovalRequest[]) {
    const shown = this.request;
    this.#requests = requests;
    const index = requests.findIndex(({ approval_id: id }) => id === shown?.approval_id);
    if (index === -1) this.#show(0);
    else this.#index = index;
  }

  get request(): ApprovalRequest | undefined {
    return this.#requests[this.#index];
  }

  /** Whether a key answers: not one that was typed ahead, or belongs to a message that is being written. */
  isArmed(isWriting: boolean): boolean {
    if (this.request === undefined) return false;
    if (this.#isFocused) return true;
    return !isWriting && this.#quietSince !== undefined && this.#now() - this.#quietSince >= armMs;
  }

  /** Call when a key went to the editor: the wait for a quiet keyboard begins again. */
  noteKey(): void {
    this.#isFocused = false;
    if (this.#quietSince !== undefined) this.#quietSince = this.#now();
  }

  /** Lets keys answer although a message is being written. */
  focus(): void {
    this.#isFocused = true;
  }

  lines(view: View, maxRows: number, isWriting: boolean): string[] {
    const { request } = this;
    if (request === undefined) return [];
    this.#quietSince ??= this.#now();
    const panel = {
      request,
      choices: choicesOf(request),
      selected: this.isArmed(isWriting) ? this.#selected : -1,
      count: this.#requests.length,
      offset: this.#offset,
      hint: "ctrl-o shows all",
    };
    return [...approvalLines(panel, view, maxRows - 1), view.theme.dim(fitText(this.#hint(isWriting), view.columns))];
  }

  press(key: Key): "changed" | "ignored" | Answer {
    const { request } = this;
    if (request === undefined || key.type !== "key" || key.ctrl || key.alt) return "ignored";
    const choices = choicesOf(request);
    const chosen = key.name === "enter" ? choices[this.#selected] : choices.find((choice) => choice.key === key.name);
    if (chosen !== undefined) return { request, decision: chosen.decision };
    switch (key.name) {
      case "up":
        return this.#select(this.#selected - 1, choices.length);
      case "down":
        return this.#select(this.#selected + 1, choices.length);
      case "left":
        return this.#turnTo(this.#index - 1);
      case "right":
        return this.#turnTo(this.#index + 1);
      case "pageup":
        this.#offset = Math.max(0, this.#offset - pageRows);
        return "changed";
      case "pagedown":
        this.#offset += pageRows;
        return "changed";
      default:
        return "ignored";
    }
  }

  #hint(isWriting: boolean): string {
    if (!this.isArmed(isWriting)) {
      return isWriting ? "You are writing a message. Tab: answer the question" : "Keys answer in a moment";
    }
    const others = this.#requests.length > 1 ? `  ←→ ${this.#index + 1} of ${this.#requests.length}` : "";
    return `↑↓ enter  PgUp/PgDn scroll${others}  esc: no, and stop the turn`;
  }

  #select(index: number, count: number): "changed" {
    this.#selected = (index + count) % count;
    return "changed";
  }

  #turnTo(index: number): "changed" | "ignored" {
    const count = this.#requests.length;
    if (count < 2) return "ignored";
    this.#show((index + count) % count);
    this.#isFocused = true;
    return "changed";
  }

  #show(index: number): void {
    this.#index = index;
    this.#selected = 0;
    this.#offset = 0;
    this.#quietSince = undefined;
    this.#isFocused = false;
  }
}

function choicesOf(request: ApprovalRequest): Choice[] {
  const { proposed_execpolicy_amendment: words, session_prefixes: prefixes, changes } = request;
  const same = changes === undefined ? "this command" : "the same changes again";
  const covered = prefixes === undefined ? same : `commands that begin with ${prefixes.map(prefixText).join(" or ")}`;
  const project: Choice[] =
    words === undefined
      ? []
      : [
          {
            key: "p",
            text: `yes, and always in this project: ${prefixText(words)}`,
            decision: { approved_execpolicy_amendment: { proposed_execpolicy_amendment: words } },
          },
        ];
  return [
    { key: "y", text: "yes, once", decision: "approved" },
    { key: "a", text: `yes, and ${covered} in this conversation`, decision: "approved_for_session" },
    ...project,
    { key: "n", text: "no", decision: "denied" },
    { key: "i", text: "no, and say what to do instead", decision: "instructions" },
  ];
}

function prefixText(prefix: CommandPrefix): string {
  return shortened(quotedCommand(prefix), maxPrefixChars);
}
