import { join } from "node:path";
import type { Conversation } from "../../../actors/conversation/handle.js";
import { counted } from "../../../base/text/counted.js";
import { createRedactor, secretsOf } from "../../../config/secrets/redact.js";
import { effectiveSetting } from "../../../config/settings/effective-settings.js";
import { type EventMsg, isApprovalMsg } from "../../../messages/event.js";
import { version } from "../../../version.js";
import type { UserInput } from "../../../messages/user-input.js";
import { exitCodes } from "../../command-error.js";
import { type CommandContext, currentTime } from "../../context.js";
import type { Choice } from "../../conversations/choose-conversation.js";
import type { Workspace } from "../../workspace.js";
import { watchSignals } from "../interruption.js";
import { Editor } from "../model/editor.js";
import { imagePaths } from "../model/image-paths.js";
import { PromptHistory } from "../model/prompt-history.js";
import type { Key } from "../screen/key.js";
import type { LiveRegion } from "../screen/painter.js";
import { type Background, Screen } from "../screen/screen.js";
import { frameMs } from "../view/activity.js";
import { languagesLoaded, requestLanguage } from "../view/highlight.js";
import { menuLines } from "../view/menu.js";
import { approvalBodyLines } from "../view/approval.js";
import { Pager, type PagerSource } from "../view/pager.js";
import { themeFor } from "../view/themes.js";
import type { View } from "../view/view.js";
import { ApprovalPanel } from "./approval-panel.js";
import { Completions } from "./completions.js";
import type { Entry } from "./conversation-state.js";
import { detailsSource } from "./details-source.js";
import { editInProgram } from "./external-editor.js";
import { liveRegion } from "./live-region.js";
import { notificationFor } from "./notifications.js";
import { OpenConversations } from "./open-conversations.js";
import type { Overlay } from "./overlay.js";
import { PromptCommands } from "./prompt-commands.js";
import type { ScreenConversation, WaitingInput } from "./screen-conversation.js";
import type { ScreenContext } from "./screen-output.js";
import { inputItems, instructionsInput } from "./prompt-input.js";
import { branchOf, statusText } from "./status-text.js";

const maxMenuRows = 10;
const maxPickerRows = 16;
const exitHint = "Press Ctrl-C again to exit.";

interface AppParts {
  readonly output: ScreenContext<CommandContext>;
  readonly workspace: Workspace;
  readonly choice: Choice;
  /** Sent at once. */
  readonly first: string;
}

/** Runs the interactive screen until the person leaves; resolves with the exit code. */
export async function runScreen(parts: AppParts): Promise<number> {
  const { output, workspace, choice } = parts;
  const { context } = output;
  const opened = choice.type === "resume" ? await workspace.resume(choice, { allowEmpty: true }) : undefined;
  const planned = opened === undefined ? workspace.plan() : undefined;
  const notices = [
    ...(choice.type === "new" && choice.why !== undefined ? [`${choice.why}: starting a new one`] : []),
    ...[opened?.notice, planned?.notice].flatMap((notice) => notice ?? []),
  ];
  const app = new App(parts);
  const exitCode = await app.run(opened, notices);
  const last = app.lastConversation;
  if (last?.rolloutPath !== undefined && last.rolloutPath !== null && last.turns > 0) {
    await context.terminal.stdout.write(`To continue: cody resume ${last.id}\n`);
  }
  return exitCode;
}

/** Connects the keyboard, the conversations and the screen. */
class App {
  readonly #output: ScreenContext<CommandContext>;
  readonly #context: CommandContext;
  readonly #workspace: Workspace;
  readonly #first: string;
  readonly #now: () => number;
  readonly #editor: Editor;
  readonly #history: PromptHistory;
  readonly #approvals: ApprovalPanel;
  readonly #completions: Completions;
  readonly #conversations: OpenConversations;
  readonly #commands: PromptCommands;
  #screen: Screen | undefined;
  #view: View;
  #overlay: Overlay | undefined;
  /** The request for which the person is writing what to do instead. */
  #instructing: { readonly conversation: ScreenConversation; readonly approvalId: string } | undefined;
  /** Shown below the editor until the next key. */
  #hint = "";
  /** The key that would exit if it is pressed again. */
  #exitKey: "c" | "d" | undefined;
  /** The transcript waits for the colour of the background. */
  #isReady = false;
  #isFlushing = false;
  #ticking: NodeJS.Timeout | undefined;
  #onEnd: ((exitCode: number) => void) | undefined;

  constructor({ output, workspace, first }: AppParts) {
    this.#output = output;
    this.#context = output.context;
    this.#workspace = workspace;
    this.#first = first;
    this.#now = () => currentTime(this.#context);
    const { env } = this.#context.terminal;
    const saves = workspace.config.persistence.enabled;
    this.#history = PromptHistory.open({
      file: saves ? join(this.#context.home, "prompt-history.jsonl") : undefined,
      redactor: { redact: createRedactor(secretsOf(env)) },
      now: this.#now,
      onProblem: (text) => this.#context.log("warn", text),
    });
    this.#editor = new Editor({ history: this.#history, keys: effectiveSetting(workspace.config, "terminal.keys") });
    this.#approvals = new ApprovalPanel(this.#now);
    this.#place = { homedir: this.#context.terminal.homedir, branch: undefined };
    this.#view = { columns: 80, theme: this.#themeFor("dark") };
    this.#conversations = new OpenConversations({
      workspace,
      now: this.#now,
      onChange: (conversation) => this.#changed(conversation),
      onEvent: (conversation, msg) => this.#received(conversation, msg),
    });
    this.#completions = new Completions({ context: this.#context, workspace, onChange: () => this.#refresh() });
    this.#commands = new PromptCommands({
      context: this.#context,
      conversations: this.#conversations,
      app: {
        editor: this.#editor,
        open: (overlay) => this.#open(overlay),
        view: () => this.#view,
        add: (entry) => this.#add(entry),
        print: (lines) => this.#print(lines),
        refresh: () => this.#refresh(),
        write: (sequence) => this.#screen?.write(sequence),
        setTheme: (choice) => this.#setTheme(choice),
        switchTo: (conversation) => this.#switchTo(conversation),
        leave: () => this.#end(0),
      },
    });
  }

  get lastConversation(): Conversation | undefined {
    return this.#conversations.current.conversation;
  }

  async run(opened: Conversation | undefined, notices: readonly string[]): Promise<number> {
    const { terminal } = this.#context;
    const job = terminal.job;
    if (job === undefined) throw new Error("the interactive screen needs a process of its own");
    const ended = new Promise<number>((resolve) => void (this.#onEnd = resolve));
    using interruption = watchSignals(terminal, () => this.#onInterrupt());
    interruption.signal.addEventListener("abort", () => this.#end(interruption.exitCode ?? 0));
    const input = terminal.stdin;
    // The process has stopped working properly, and what it reports must be readable.
    const unlisten = terminal.onCrash(() => this.#screen?.restore());
    const screen = Screen.open({
      input,
      output: this.#output.real.stdout.stream,
      env: terminal.env,
      job,
      events: {
        key: (key) => this.#press(key),
        resize: () => this.#resized(),
        background: (background) => this.#setBackground(background),
        focus: () => undefined,
        notice: (text) => this.#notice("warning", text),
        end: () => this.#end(0),
      },
    });
    this.#screen = screen;
    try {
      this.#resized();
      void this.#readBranch();
      screen.painter.show(() => this.#live());
      this.#output.redirect({
        get columns() {
          return screen.columns;
        },
        print: (lines, stream) => this.#commandOutput(lines, stream),
      });
      const { background } = await screen.ready;
      this.#setBackground(background);
      this.#greet(notices);
      this.#isReady = true;
      if (opened !== undefined) await this.#conversations.current.show(opened);
      this.#flush();
      if (this.#first.trim() !== "") this.#send(this.#first, "steer");
      return await ended;
    } finally {
      clearInterval(this.#ticking);
      this.#completions.close();
      this.#isReady = true;
      this.#onEnd = undefined;
      this.#flush();
      this.#output.redirect(undefined);
      await screen.close();
      unlisten();
      await this.#history.flush();
    }
  }

  #end(exitCode: number): void {
    this.#onEnd?.(exitCode);
  }

  async #readBranch(): Promise<void> {
    const { homedir } = this.#context.terminal;
    const branch = await branchOf(this.#workspace.key.projectRoot);
    this.#place = { homedir, branch };
    this.#refresh();
  }

  #onInterrupt(): void {
    // After the screen is closed, Ctrl-C is a signal again: the person does not want to wait.
    if (this.#screen === undefined) return this.#context.terminal.exit(exitCodes.interrupted);
    this.#ctrlC();
  }

  #greet(notices: readonly string[]): void {
    const { state } = this.#conversations.current;
    const { bold, dim } = this.#view.theme;
    state.add({
      type: "output",
      isStyled: true,
      lines: [`${bold(`cody ${version}`)}  ${dim("/help for commands, ctrl-k for the palette")}`],
    });
    for (const text of notices) state.add({ type: "notice", kind: "info", text });
  }

  #themeFor(background: Background) {
    const choice = effectiveSetting(this.#workspace.config, "terminal.theme");
    return themeFor({ env: this.#context.terminal.env, background, choice });
  }

  #background: Background = "dark";
  #place: { readonly homedir: string; readonly branch: string | undefined };

  #setBackground(background: Background): void {
    this.#background = background;
    this.#view = { ...this.#view, theme: this.#themeFor(background) };
    this.#refresh();
  }

  #setTheme(choice: "auto" | "dark" | "light" | "none"): void {
    const { env } = this.#context.terminal;
    this.#view = { ...this.#view, theme: themeFor({ env, background: this.#background, choice }) };
    this.#refresh();
  }

  #resized(): void {
    const { columns } = this.#screen ?? { columns: 80 };
    this.#view = { ...this.#view, columns };
    this.#refresh();
  }

  #refresh(): void {
    this.#screen?.painter.refresh();
  }

  #live(): LiveRegion {
    const rows = this.#screen?.rows ?? 24;
    const now = this.#now();
    const { current } = this.#conversations;
    const view = this.#view;
    const isWriting = !this.#editor.isEmpty || this.#instructing !== undefined;
    const overlay = this.#overlay;
    const isAsked = this.#instructing === undefined && overlay === undefined && this.#approvals.request !== undefined;
    const isArmed = isAsked && this.#approvals.isArmed(isWriting);
    const menu = overlay === undefined ? this.#completions.menu : undefined;
    const panel =
      overlay?.type === "menu"
        ? (most: number) => overlay.lines(view, Math.min(most, maxPickerRows))
        : isAsked
          ? (most: number) => this.#approvals.lines(view, most, isWriting)
          : undefined;
    const heading =
      overlay?.type === "question"
        ? overlay.question
        : this.#instructing === undefined
          ? undefined
          : "What should it do instead?";
    return liveRegion(
      current,
      this.#editor,
      {
        panel,
        menu: menu && ((most) => menuLines(menu, view, Math.min(most, maxMenuRows))),
        prompt: overlay?.type === "question" ? "? " : "› ",
        heading: heading === undefined ? undefined : view.theme.accent(heading),
        hint: "esc to interrupt",
        status: this.#hint === "" ? statusText(this.#conversations, view, this.#place) : view.theme.warning(this.#hint),
        isPanelFocused: isArmed || overlay?.type === "menu",
        isEditorShown: overlay?.type !== "menu" && !(isArmed && this.#editor.isEmpty),
      },
      { view, rows, now },
    );
  }

  /** Prints what has ended, at most once per round of the event loop. */
  #changed(conversation: ScreenConversation): void {
    if (conversation !== this.#conversations.current) return this.#refresh();
    this.#approvals.requests = conversation.state.requests;
    this.#tick();
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    setImmediate(() => {
      this.#isFlushing = false;
      this.#flush();
    });
  }

  /** Code waits until its language can be highlighted: what is printed stays as it is. */
  #flush(): void {
    if (!this.#isReady) return;
    const { state, transcript } = this.#conversations.current;
    for (const language of state.newLanguages()) requestLanguage(language);
    const loading = languagesLoaded();
    if (loading !== undefined && this.#onEnd !== undefined) {
      void this.#flushAfter(loading);
      return this.#refresh();
    }
    const entries = state.takeEntries();
    if (entries.length > 0) this.#screen?.painter.print(transcript.linesOf(entries, this.#view));
    this.#refresh();
  }

  async #flushAfter(loading: Promise<void>): Promise<void> {
    await loading;
    this.#flush();
  }

  /** Redraws what counts time, while something does. */
  #tick(): void {
    const isMoving = (): boolean => this.#conversations.current.state.isBusy || this.#approvals.request !== undefined;
    if (this.#ticking !== undefined || !isMoving()) return;
    this.#ticking = setInterval(() => {
      this.#refresh();
      if (isMoving()) return;
      clearInterval(this.#ticking);
      this.#ticking = undefined;
    }, frameMs);
  }

  #received(conversation: ScreenConversation, msg: EventMsg): void {
    const isShown = conversation === this.#conversations.current;
    const isEnd = msg.type === "task_complete" || msg.type === "turn_aborted";
    if (!isShown && (isEnd || isApprovalMsg(msg))) conversation.unread += 1;
    if (isEnd) void this.#readBranch();
    if (!isEnd && !isApprovalMsg(msg)) return;
    if (isShown && this.#screen?.isFocused !== false) return;
    const setting = effectiveSetting(this.#workspace.config, "terminal.notifications");
    const text = `${conversation.name ?? "cody"}: ${isEnd ? "the turn has ended" : "needs your approval"}`;
    const sequence = notificationFor(text, setting, this.#context.terminal.env);
    if (sequence !== "") this.#screen?.write(sequence);
  }

  #add(entry: Entry): void {
    const { current } = this.#conversations;
    current.state.add(entry);
    this.#changed(current);
  }

  #notice(kind: "info" | "warning" | "error", text: string): void {
    this.#add({ type: "notice", kind, text });
  }

  #print(lines: readonly string[]): void {
    this.#add({ type: "output", lines });
  }

  #commandOutput(lines: readonly string[], stream: "stdout" | "stderr"): void {
    if (stream === "stdout") return this.#print(lines);
    const text = lines.join("\n");
    const isError = text.startsWith("✗ ");
    this.#notice(isError ? "error" : "info", isError ? text.slice("✗ ".length) : text);
  }

  #open(overlay: Overlay | undefined): void {
    if (this.#overlay?.type === "pager") this.#screen?.painter.closeAlternate();
    const before = this.#overlay;
    this.#overlay = overlay;
    if (overlay?.type === "pager") {
      this.#screen?.painter.openAlternate(() => overlay.pager.rows(this.#view, this.#screen?.rows ?? 24));
    }
    if (before !== undefined && before !== overlay) before.closed?.();
    this.#refresh();
  }

  #switchTo(conversation: ScreenConversation): void {
    if (conversation === this.#conversations.current) return;
    this.#flush();
    this.#conversations.current = conversation;
    conversation.unread = 0;
    this.#instructing = undefined;
    const { dim, bold } = this.#view.theme;
    const title = this.#conversations.titleOf(conversation);
    this.#screen?.painter.print(["", `${dim("──")} ${bold(title)} ${dim("──")}`, ""]);
    this.#approvals.requests = conversation.state.requests;
    this.#changed(conversation);
  }

  #press(key: Key): void {
    const wasExitKey = this.#exitKey;
    this.#exitKey = undefined;
    this.#hint = "";
    if (key.type === "key" && key.ctrl && !key.alt && (key.name === "c" || key.name === "d")) {
      if (key.name === "c") this.#ctrlC(wasExitKey === "c");
      else if (!this.#ctrlD(wasExitKey === "d")) this.#pressEditor(key);
    } else if (!this.#pressOverlay(key) && !this.#pressGlobal(key) && !this.#pressApproval(key)) {
      this.#pressEditor(key);
    }
    this.#refresh();
  }

  /** True if an open menu, pager or question has used the key. */
  #pressOverlay(key: Key): boolean {
    const overlay = this.#overlay;
    if (overlay?.type === "pager") {
      if (overlay.pager.press(key) === "closed") this.#open(undefined);
      return true;
    }
    if (overlay?.type === "menu") {
      const outcome = overlay.press(key);
      if (outcome === "chosen") {
        this.#overlay = undefined;
        overlay.choose();
      } else if (outcome === "closed") this.#open(undefined);
      return true;
    }
    if (overlay?.type === "question" && isKey(key, "escape")) {
      this.#open(undefined);
      return true;
    }
    return this.#pressCompletion(key);
  }

  #pressCompletion(key: Key): boolean {
    if (this.#completions.menu === undefined || key.type !== "key") return false;
    const outcome = this.#completions.press(key, this.#editor);
    if (outcome === "submit") this.#submit("steer");
    return outcome !== "ignored";
  }

  #pressGlobal(key: Key): boolean {
    if (key.type !== "key") return false;
    const { name, ctrl, alt } = key;
    if (alt && !ctrl) {
      const conversation = this.#conversations.byKey(name);
      if (conversation !== undefined) this.#switchTo(conversation);
      return conversation !== undefined;
    }
    const isPlain = !ctrl && !alt;
    if (isPlain && name === "escape") return this.#escape(key);
    if (isPlain && name === "tab") return this.#tab();
    if (isPlain && name === "up" && this.#editor.isEmpty) return this.#takeBack();
    if (!ctrl || alt) return false;
    switch (name) {
      case "o":
        this.#openPager();
        return true;
      case "g":
        if (this.#editor.search !== undefined) return false;
        void this.#editOutside();
        return true;
      case "z":
        void this.#screen?.stop();
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
    if (this.#approvals.request === undefined) {
      pager.rows(this.#view, this.#screen?.rows ?? 24);
      pager.press(endKey);
    }
    this.#open({ type: "pager", pager });
  }

  /** The whole question if there is one, else the outputs so far. */
  #pagerSource(): PagerSource {
    const { request } = this.#approvals;
    if (request === undefined) return detailsSource(this.#conversations.current.state);
    return { title: "Approval request", lines: (view) => approvalBodyLines(request, view) };
  }

  #pressApproval(key: Key): boolean {
    const isWriting = !this.#editor.isEmpty || this.#instructing !== undefined;
    if (this.#overlay !== undefined || !this.#approvals.isArmed(isWriting)) {
      this.#approvals.noteKey();
      return false;
    }
    const answer = this.#approvals.press(key);
    if (typeof answer === "object") {
      const { current } = this.#conversations;
      const { request, decision } = answer;
      if (decision === "instructions") this.#instructing = { conversation: current, approvalId: request.approval_id };
      else current.decide(request.approval_id, decision);
    }
    // Keys that mean nothing here must not end up in a message that is sent later.
    return true;
  }

  #pressEditor(key: Key): void {
    if (key.type === "paste") return void this.#paste(key.text);
    const outcome = this.#editor.press(key);
    if (outcome === "submit") return this.#submit("steer");
    if (outcome === "ignored" && isKey(key, "k", "ctrl")) return this.#commands.openPalette();
    if (outcome === "changed") this.#completions.update(this.#editor);
  }

  async #paste(text: string): Promise<void> {
    const { cwd, homedir } = this.#context.terminal;
    const images = await imagePaths(text, { cwd, homedir });
    if (images === undefined) this.#editor.press({ type: "paste", text });
    else this.#editor.insert(images.map((path) => `@${path.includes(" ") ? `"${path}"` : path} `).join(""));
    this.#completions.update(this.#editor);
    this.#refresh();
  }

  #ctrlC(isSecond = false): void {
    const { current } = this.#conversations;
    if (this.#overlay !== undefined) return this.#open(undefined);
    if (this.#editor.search !== undefined) return void this.#editor.press(ctrlC);
    if (this.#instructing !== undefined) {
      this.#instructing = undefined;
      return this.#editor.setText("");
    }
    if (isSecond && this.#editor.isEmpty) return this.#end(exitCodes.interrupted);
    if (this.#interrupt()) return;
    if (!this.#editor.isEmpty) {
      this.#editor.setText("");
      return this.#completions.update(this.#editor);
    }
    this.#exitKey = "c";
    const running = this.#conversations.all.filter(({ state }) => state.isBusy).length;
    const others = running - (current.state.isBusy ? 1 : 0);
    this.#hint = others === 0 ? exitHint : `${exitHint} ${counted(others, "other conversation")} would be interrupted.`;
  }

  /** False if the key belongs to the editor. */
  #ctrlD(isSecond: boolean): boolean {
    if (this.#overlay !== undefined) {
      this.#open(undefined);
      return true;
    }
    if (!this.#editor.isEmpty || this.#editor.search !== undefined) return false;
    const running = this.#conversations.all.filter(({ state }) => state.isBusy).length;
    if (isSecond || running === 0) this.#end(0);
    else {
      this.#exitKey = "d";
      this.#hint = `Press Ctrl-D again to exit. ${counted(running, "conversation")} would be interrupted.`;
    }
    return true;
  }

  #escape(key: Key): boolean {
    if (this.#editor.press(key) !== "ignored") {
      this.#completions.update(this.#editor);
      return true;
    }
    if (this.#instructing !== undefined) {
      this.#instructing = undefined;
      return true;
    }
    const { current } = this.#conversations;
    const { request } = this.#approvals;
    if (request !== undefined && this.#approvals.isArmed(!this.#editor.isEmpty)) {
      current.decide(request.approval_id, "abort");
      return true;
    }
    this.#interrupt();
    return true;
  }

  /** Stops what runs in the shown conversation; false if nothing does. */
  #interrupt(): boolean {
    const { current } = this.#conversations;
    if (this.#commands.interrupt()) return true;
    if (!current.state.isBusy || current.isInterrupted) return false;
    void current.interrupt().then((returned) => this.#returnToEditor(returned));
    return true;
  }

  /** Texts that were sent and are to be edited again come before what is being written. */
  #returnToEditor(texts: readonly string[]): void {
    if (texts.length > 0) this.#editor.setText([...texts, this.#editor.text].filter((part) => part !== "").join("\n"));
    this.#refresh();
  }

  #tab(): boolean {
    if (this.#approvals.request !== undefined && this.#overlay === undefined && this.#instructing === undefined) {
      this.#approvals.focus();
      return true;
    }
    if (this.#overlay !== undefined || this.#editor.isEmpty || !this.#conversations.current.state.isBusy) return false;
    this.#submit("next");
    return true;
  }

  #takeBack(): boolean {
    const { current } = this.#conversations;
    if (current.waiting.length === 0) return false;
    void current.takeBack().then((text) => this.#returnToEditor(text === undefined ? [] : [text]));
    return true;
  }

  #redraw(): void {
    const { painter } = this.#screen ?? {};
    this.#screen?.write("\u001b[2J\u001b[H");
    painter?.pause();
    painter?.resume();
  }

  async #editOutside(): Promise<void> {
    const { env } = this.#context.terminal;
    const outcome = await this.#screen?.lend(() => editInProgram(this.#editor.text, env));
    if (outcome?.text !== undefined) this.#editor.setText(outcome.text);
    if (outcome?.problem !== undefined) this.#notice("error", outcome.problem);
    this.#refresh();
  }

  #submit(kind: WaitingInput["kind"]): void {
    const overlay = this.#overlay;
    const isCommand = overlay === undefined && this.#instructing === undefined;
    if (isCommand && this.#editor.text.trim() === "") return;
    const text = this.#editor.take();
    this.#completions.update(this.#editor);
    if (overlay?.type === "question") {
      this.#overlay = undefined;
      overlay.answer(text);
    } else if (this.#instructing !== undefined) {
      const { conversation, approvalId } = this.#instructing;
      this.#instructing = undefined;
      conversation.decide(approvalId, instructionsInput(text));
    } else if (this.#commands.isCommand(text)) this.#commands.run(text);
    else this.#send(text, kind);
  }

  #send(text: string, kind: WaitingInput["kind"]): void {
    this.#conversations.current.send({ items: this.#itemsOf(text), text, kind });
  }

  async #itemsOf(text: string): Promise<readonly UserInput[]> {
    const { items, problems } = await inputItems(text, this.#context, this.#workspace);
    for (const problem of problems) this.#notice("warning", problem);
    return items;
  }
}

const endKey: Key = { type: "key", name: "end", ctrl: false, alt: false, shift: false };
const ctrlC: Key = { type: "key", name: "c", ctrl: true, alt: false, shift: false };

function isKey(key: Key, name: string, modifier?: "ctrl"): boolean {
  return key.type === "key" && key.name === name && key.ctrl === (modifier === "ctrl") && !key.alt;
}
