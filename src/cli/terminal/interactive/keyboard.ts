import { counted } from "../../../base/text/counted.js";
import type { UserInput } from "../../../messages/user-input.js";
import { exitCodes } from "../../command-error.js";
import type { CommandContext } from "../../context.js";
import type { Workspace } from "../../workspace.js";
import type { Editor } from "../model/editor.js";
import { imagePaths } from "../model/image-paths.js";
import type { Key } from "../screen/key.js";
import type { Screen } from "../screen/screen.js";
import { approvalBodyLines } from "../view/approval.js";
import { Pager, type PagerSource } from "../view/pager.js";
import type { View } from "../view/view.js";
import type { ApprovalPanel } from "./approval-panel.js";
import type { Completions } from "./completions.js";
import { detailsSource } from "./details-source.js";
import { editInProgram } from "./external-editor.js";
import type { OpenConversations } from "./open-conversations.js";
import type { Overlay } from "./overlay.js";
import type { PromptCommands } from "./prompt-commands.js";
import { inputItems, instructionsInput } from "./prompt-input.js";
import type { ScreenConversation, WaitingInput } from "./screen-conversation.js";

const exitHint = "Press Ctrl-C again to exit.";
/** A paste that may be the path of an image. */
const imageExtension = /\.(?:png|jpe?g|gif|webp)\b/i;

interface KeyboardParts {
  readonly context: CommandContext;
  readonly workspace: Workspace;
  readonly conversations: OpenConversations;
  readonly editor: Editor;
  readonly approvals: ApprovalPanel;
  readonly completions: Completions;
  readonly commands: PromptCommands;
  readonly screen: Screen;
  readonly view: () => View;
  readonly switchTo: (conversation: ScreenConversation) => void;
  readonly notice: (kind: "warning" | "error", text: string) => void;
  readonly end: (exitCode: number) => void;
}

/** Decides what each key does: to an open menu, an approval request, the editor, or the conversation. */
export class Keyboard {
  readonly #parts: KeyboardParts;
  #overlay: Overlay | undefined;
  /** The request for which the person is writing what to do instead. */
  #instructing: { readonly conversation: ScreenConversation; readonly approvalId: string } | undefined;
  #hint = "";
  /** The key that would exit if it is pressed again. */
  #exitKey: "c" | "d" | undefined;
  /** Keys that wait until it is known what was pasted. */
  #waitingKeys: Key[] | undefined;

  constructor(parts: KeyboardParts) {
    this.#parts = parts;
  }

  /** The open menu, pager or question, which gets the keys before the editor. */
  get overlay(): Overlay | undefined {
    return this.#overlay;
  }

  /** Whether the editor has the answer to an approval request. */
  get isInstructing(): boolean {
    return this.#instructing !== undefined;
  }

  /** Whether a message or an answer is being written. */
  get isWriting(): boolean {
    return !this.#parts.editor.isEmpty || this.isInstructing;
  }

  /** Text below the editor until the next key; empty if there is none. */
  get hint(): string {
    return this.#hint;
  }

  /** Another conversation is shown: an answer to the one before is not written any more. */
  forgetAnswer(): void {
    this.#instructing = undefined;
  }

  open(overlay: Overlay | undefined): void {
    if (this.#overlay?.type === "pager") this.#parts.screen.painter.closeAlternate();
    const before = this.#overlay;
    this.#overlay = overlay;
    if (overlay?.type === "pager") {
      this.#parts.screen.painter.openAlternate(() => overlay.pager.rows(this.#parts.view(), this.#parts.screen.rows));
    }
    if (before !== undefined && before !== overlay) before.closed?.();
    this.#parts.screen.painter.refresh();
  }

  press(key: Key): void {
    if (this.#waitingKeys !== undefined) return void this.#waitingKeys.push(key);
    const wasExitKey = this.#exitKey;
    this.#exitKey = undefined;
    this.#hint = "";
    if (key.type === "key" && key.ctrl && !key.alt && (key.name === "c" || key.name === "d")) {
      if (key.name === "c") this.ctrlC(wasExitKey === "c");
      else if (!this.#ctrlD(wasExitKey === "d")) this.#pressEditor(key);
    } else if (!this.#pressOverlay(key) && !this.#pressApproval(key) && !this.#pressGlobal(key)) {
      this.#pressEditor(key);
    }
    this.#parts.screen.painter.refreshNow();
  }

  /** True if an open menu, pager or question has used the key. */
  #pressOverlay(key: Key): boolean {
    const overlay = this.#overlay;
    if (overlay?.type === "pager") {
      if (overlay.pager.press(key) === "closed") this.open(undefined);
      return true;
    }
    if (overlay?.type === "menu") {
      const outcome = overlay.press(key);
      if (outcome === "chosen") {
        this.#overlay = undefined;
        overlay.choose();
      } else if (outcome === "closed") this.open(undefined);
      return true;
    }
    if (overlay?.type === "question" && isKey(key, "escape")) {
      this.open(undefined);
      return true;
    }
    return this.#pressCompletion(key);
  }

  #pressCompletion(key: Key): boolean {
    if (this.#parts.completions.menu === undefined || key.type !== "key") return false;
    const outcome = this.#parts.completions.press(key, this.#parts.editor);
    if (outcome === "submit") this.#submit("steer");
    return outcome !== "ignored";
  }

  #pressGlobal(key: Key): boolean {
    if (key.type !== "key") return false;
    const { name, ctrl, alt } = key;
    if (alt && !ctrl) {
      const conversation = this.#parts.conversations.byKey(name);
      if (conversation !== undefined) this.#parts.switchTo(conversation);
      return conversation !== undefined;
    }
    const isPlain = !ctrl && !alt;
    if (isPlain && name === "escape") return this.#escape(key);
    if (isPlain && name === "tab") return this.#tab();
    if (isPlain && name === "up" && this.#parts.editor.isEmpty) return this.#takeBack();
    if (!ctrl || alt) return false;
    switch (name) {
      case "o":
        this.#openPager();
        return true;
      case "g":
        if (this.#parts.editor.search !== undefined) return false;
        void this.#editOutside();
        return true;
      case "z":
        void this.#parts.screen.stop();
        return true;
      case "l":
        this.#redraw();
        return true;
      default:
        return false;
    }
  }

  /** Outputs are read from their end, questions from their start. */
  #openPager(): void {
    const pager = new Pager(this.#pagerSource());
    if (this.#parts.approvals.request === undefined) {
      pager.rows(this.#parts.view(), this.#parts.screen.rows);
      pager.press(endKey);
    }
    this.open({ type: "pager", pager });
  }

  /** The whole question if there is one, else the outputs so far. */
  #pagerSource(): PagerSource {
    const { request } = this.#parts.approvals;
    if (request === undefined) return detailsSource(this.#parts.conversations.current.state);
    return { title: "Approval request", lines: (view) => approvalBodyLines(request, view) };
  }

  /** True if the key answers the request that is shown, or moves in it. */
  #pressApproval(key: Key): boolean {
    const { approvals, conversations } = this.#parts;
    if (this.#overlay !== undefined || !approvals.isArmed(this.isWriting)) {
      approvals.noteKey();
      return false;
    }
    const outcome = approvals.press(key);
    if (outcome === "ignored") {
      // A message begins: its next characters must not answer, and none of them is lost.
      if (key.type === "paste" || (key.name.length === 1 && !key.ctrl && !key.alt)) approvals.noteKey();
      return false;
    }
    if (outcome === "changed") return true;
    const { request, decision } = outcome;
    const { current } = conversations;
    if (decision === "instructions") this.#instructing = { conversation: current, approvalId: request.approval_id };
    else current.decide(request.approval_id, decision);
    return true;
  }

  #pressEditor(key: Key): void {
    if (key.type === "paste" && imageExtension.test(key.text)) return void this.#pasteImages(key.text);
    const outcome = this.#parts.editor.press(key);
    if (outcome === "submit") return this.#submit("steer");
    if (outcome === "ignored" && isKey(key, "k", "ctrl")) return this.#parts.commands.openPalette();
    if (outcome === "changed") this.#parts.completions.update(this.#parts.editor);
  }

  /** The path of an image becomes a reference to it. Keys that follow wait until that is known. */
  async #pasteImages(text: string): Promise<void> {
    const { context, editor, completions, screen } = this.#parts;
    const { cwd, homedir } = context.terminal;
    this.#waitingKeys = [];
    const images = await imagePaths(text, { cwd, homedir }).catch(() => undefined);
    if (images === undefined) editor.press({ type: "paste", text });
    else editor.insert(images.map((path) => `@${path.includes(" ") ? `"${path}"` : path} `).join(""));
    completions.update(editor);
    const waiting = this.#waitingKeys;
    this.#waitingKeys = undefined;
    for (const key of waiting) this.press(key);
    screen.painter.refresh();
  }

  /** Ctrl-C, or the signal that it would be without the screen. */
  ctrlC(isSecond = false): void {
    const { current } = this.#parts.conversations;
    if (this.#overlay !== undefined) return this.open(undefined);
    if (this.#parts.editor.search !== undefined) return void this.#parts.editor.press(ctrlC);
    if (this.#instructing !== undefined) {
      this.#instructing = undefined;
      return this.#parts.editor.setText("");
    }
    if (isSecond && this.#parts.editor.isEmpty) return this.#parts.end(exitCodes.interrupted);
    if (this.#interrupt()) return;
    if (!this.#parts.editor.isEmpty) {
      this.#parts.editor.setText("");
      return this.#parts.completions.update(this.#parts.editor);
    }
    this.#exitKey = "c";
    const running = this.#parts.conversations.all.filter(({ state }) => state.isBusy).length;
    const others = running - (current.state.isBusy ? 1 : 0);
    this.#hint = others === 0 ? exitHint : `${exitHint} ${counted(others, "other conversation")} would be interrupted.`;
  }

  /** False if the key belongs to the editor. */
  #ctrlD(isSecond: boolean): boolean {
    if (this.#overlay !== undefined) {
      this.open(undefined);
      return true;
    }
    if (!this.#parts.editor.isEmpty || this.#parts.editor.search !== undefined) return false;
    const running = this.#parts.conversations.all.filter(({ state }) => state.isBusy).length;
    if (isSecond || running === 0) this.#parts.end(0);
    else {
      this.#exitKey = "d";
      this.#hint = `Press Ctrl-D again to exit. ${counted(running, "conversation")} would be interrupted.`;
    }
    return true;
  }

  #escape(key: Key): boolean {
    if (this.#parts.editor.press(key) !== "ignored") {
      this.#parts.completions.update(this.#parts.editor);
      return true;
    }
    if (this.#instructing !== undefined) {
      this.#instructing = undefined;
      return true;
    }
    const { current } = this.#parts.conversations;
    const { request } = this.#parts.approvals;
    if (request !== undefined && this.#parts.approvals.isArmed(!this.#parts.editor.isEmpty)) {
      current.decide(request.approval_id, "abort");
      return true;
    }
    this.#interrupt();
    return true;
  }

  /** Stops what runs in the shown conversation; false if nothing does. */
  #interrupt(): boolean {
    const { current } = this.#parts.conversations;
    if (this.#parts.commands.interrupt()) return true;
    if (!current.state.isBusy || current.isInterrupted) return false;
    void current.interrupt().then((returned) => this.#returnToEditor(returned));
    return true;
  }

  /** Texts that were sent and are to be edited again come before what is being written. */
  #returnToEditor(texts: readonly string[]): void {
    if (texts.length > 0)
      this.#parts.editor.setText([...texts, this.#parts.editor.text].filter((part) => part !== "").join("\n"));
    this.#parts.screen.painter.refresh();
  }

  #tab(): boolean {
    if (this.#parts.approvals.request !== undefined && this.#overlay === undefined && this.#instructing === undefined) {
      this.#parts.approvals.focus();
      return true;
    }
    if (this.#overlay !== undefined || this.#parts.editor.isEmpty || !this.#parts.conversations.current.state.isBusy)
      return false;
    this.#submit("queue");
    return true;
  }

  #takeBack(): boolean {
    const { current } = this.#parts.conversations;
    if (current.waiting.length === 0) return false;
    void current.takeBack().then((text) => this.#returnToEditor(text === undefined ? [] : [text]));
    return true;
  }

  #redraw(): void {
    const { painter, rows } = this.#parts.screen;
    // Scrolling keeps what is visible; terminals forget what is erased.
    this.#parts.screen.write(`${painter.pause()}${"\n".repeat(Math.max(0, rows - 1))}\u001b[H\u001b[J`);
    painter.resume();
  }

  async #editOutside(): Promise<void> {
    const { env } = this.#parts.context.terminal;
    const outcome = await this.#parts.screen.lend(() => editInProgram(this.#parts.editor.text, env));
    if (outcome?.text !== undefined) this.#parts.editor.setText(outcome.text);
    if (outcome?.problem !== undefined) this.#parts.notice("error", outcome.problem);
    this.#parts.screen.painter.refresh();
  }

  #submit(kind: WaitingInput["kind"]): void {
    const overlay = this.#overlay;
    const isCommand = overlay === undefined && this.#instructing === undefined;
    if (isCommand && this.#parts.editor.text.trim() === "") return;
    const text = this.#parts.editor.take();
    this.#parts.completions.update(this.#parts.editor);
    if (overlay?.type === "question") {
      this.#overlay = undefined;
      overlay.answer(text);
    } else if (this.#instructing !== undefined) {
      const { conversation, approvalId } = this.#instructing;
      this.#instructing = undefined;
      conversation.decide(approvalId, instructionsInput(text));
    } else if (this.#parts.commands.isCommand(text)) this.#parts.commands.run(text);
    else this.send(text, kind);
  }

  /** Sends a message to the conversation on the screen. */
  send(text: string, kind: WaitingInput["kind"]): void {
    this.#parts.conversations.current.send({ items: this.#itemsOf(text), text, kind });
  }

  async #itemsOf(text: string): Promise<readonly UserInput[]> {
    const { items, problems } = await inputItems(text, this.#parts.context, this.#parts.workspace);
    for (const problem of problems) this.#parts.notice("warning", problem);
    return items;
  }
}

const endKey: Key = { type: "key", name: "end", ctrl: false, alt: false, shift: false };
const ctrlC: Key = { type: "key", name: "c", ctrl: true, alt: false, shift: false };

function isKey(key: Key, name: string, modifier?: "ctrl"): boolean {
  return key.type === "key" && key.name === name && key.ctrl === (modifier === "ctrl") && !key.alt;
}
