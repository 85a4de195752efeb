import { access } from "node:fs/promises";
import { join } from "node:path";
import type { Conversation } from "../../../actors/conversation/handle.js";
import { createRedactor, secretsOf } from "../../../config/secrets/redact.js";
import { effectiveSetting } from "../../../config/settings/effective-settings.js";
import { type EventMsg, isApprovalMsg } from "../../../messages/event.js";
import { version } from "../../../version.js";
import { type CommandContext, currentTime } from "../../context.js";
import type { Choice } from "../../conversations/choose-conversation.js";
import type { Workspace } from "../../workspace.js";
import { watchSignals } from "../interruption.js";
import { Editor } from "../model/editor.js";
import { PromptHistory } from "../model/prompt-history.js";
import type { LiveRegion } from "../screen/painter.js";
import { type Background, Screen } from "../screen/screen.js";
import { frameMs } from "../view/activity.js";
import { languagesLoaded, requestLanguage } from "../view/highlight.js";
import { menuLines } from "../view/menu.js";
import { type ThemeChoice, themeFor } from "../view/themes.js";
import type { View } from "../view/view.js";
import { ApprovalPanel } from "./approval-panel.js";
import { Completions } from "./completions.js";
import type { Entry } from "./conversation-state.js";
import { Keyboard } from "./keyboard.js";
import { liveRegion } from "./live-region.js";
import { notificationFor } from "./notifications.js";
import { OpenConversations } from "./open-conversations.js";
import { PromptCommands } from "./prompt-commands.js";
import type { ScreenConversation } from "./screen-conversation.js";
import type { ScreenContext } from "./screen-output.js";
import { branchOf, statusText } from "./status-text.js";

const maxMenuRows = 10;
const maxPickerRows = 16;

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
  const resumableId = await app.resumableId();
  if (resumableId !== undefined) await context.terminal.stdout.write(`To continue: cody resume ${resumableId}\n`);
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
  #theming: { readonly background: Background; readonly choice: ThemeChoice };
  #place: { readonly homedir: string; readonly branch: string | undefined };
  /** Exists while the screen does. */
  #keyboard: Keyboard | undefined;
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
    this.#theming = { background: "dark", choice: effectiveSetting(workspace.config, "terminal.theme") };
    this.#view = { columns: 80, theme: themeFor({ env, ...this.#theming }) };
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
        open: (overlay) => this.#keyboard?.open(overlay),
        view: () => this.#view,
        add: (entry) => this.#add(entry),
        print: (lines) => this.#print(lines),
        refresh: () => this.#refresh(),
        write: (sequence) => this.#screen?.write(sequence),
        setTheme: (choice) => this.#themed({ choice }),
        switchTo: (conversation) => this.#switchTo(conversation),
        leave: () => this.#end(0),
      },
    });
  }

  /** The id of the conversation on the screen, if another process can continue it. */
  async resumableId(): Promise<string | undefined> {
    const { conversation, state } = this.#conversations.current;
    if (conversation === undefined || conversation.rolloutPath === null || conversation.turns === 0) return undefined;
    // The whole file is missing where nothing could be written so far.
    if (state.isSaved === false && !(await isThere(conversation.rolloutPath))) return undefined;
    return conversation.id;
  }

  async run(opened: Conversation | undefined, notices: readonly string[]): Promise<number> {
    const { terminal } = this.#context;
    const job = terminal.job;
    if (job === undefined) throw new Error("the interactive screen needs a process of its own");
    const ended = new Promise<number>((resolve) => void (this.#onEnd = resolve));
    using interruption = watchSignals(terminal, () => this.#keyboard?.ctrlC());
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
        key: (key) => this.#keyboard?.press(key),
        resize: () => this.#resized(),
        background: (background) => this.#themed({ background }),
        focus: () => undefined,
        notice: (text) => this.#notice("warning", text),
        end: () => this.#end(0),
      },
    });
    this.#screen = screen;
    const keyboard = new Keyboard({
      context: this.#context,
      workspace: this.#workspace,
      conversations: this.#conversations,
      editor: this.#editor,
      approvals: this.#approvals,
      completions: this.#completions,
      commands: this.#commands,
      screen,
      view: () => this.#view,
      switchTo: (conversation) => this.#switchTo(conversation),
      notice: (kind, text) => this.#notice(kind, text),
      end: (exitCode) => this.#end(exitCode),
    });
    this.#keyboard = keyboard;
    try {
      this.#resized();
      void this.#readBranch();
      screen.painter.show(() => this.#live(screen, keyboard));
      this.#output.redirect({
        get columns() {
          return screen.columns;
        },
        print: (lines, stream) => this.#commandOutput(lines, stream),
      });
      const { background } = await screen.ready;
      this.#themed({ background });
      this.#greet(notices);
      this.#isReady = true;
      if (opened !== undefined) await this.#conversations.current.show(opened);
      this.#flush();
      if (this.#first.trim() !== "") keyboard.send(this.#first, "steer");
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

  #themed(options: { readonly background?: Background; readonly choice?: ThemeChoice }): void {
    this.#theming = { ...this.#theming, ...options };
    this.#view = { ...this.#view, theme: themeFor({ env: this.#context.terminal.env, ...this.#theming }) };
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

  #live({ rows }: Screen, { overlay, isInstructing, isWriting, hint }: Keyboard): LiveRegion {
    const view = this.#view;
    const approvals = this.#approvals;
    const isAsked = !isInstructing && overlay === undefined && approvals.request !== undefined;
    const isArmed = isAsked && approvals.isArmed(isWriting);
    const menu = overlay === undefined ? this.#completions.menu : undefined;
    const picker =
      overlay?.type === "menu" ? (most: number) => overlay.lines(view, Math.min(most, maxPickerRows)) : undefined;
    const question = isAsked ? (most: number) => approvals.lines(view, most, isWriting) : undefined;
    const instructing = isInstructing ? "What should it do instead?" : undefined;
    const heading = overlay?.type === "question" ? overlay.question : instructing;
    return liveRegion(
      this.#conversations.current,
      this.#editor,
      {
        panel: picker ?? question,
        menu: menu && ((most) => menuLines(menu, view, Math.min(most, maxMenuRows))),
        prompt: overlay?.type === "question" ? "? " : "› ",
        heading: heading === undefined ? undefined : view.theme.accent(heading),
        hint: "esc to interrupt",
        status: hint === "" ? statusText(this.#conversations, view, this.#place) : view.theme.warning(hint),
        isPanelFocused: isArmed || picker !== undefined,
        isEditorShown: picker === undefined && !(isArmed && this.#editor.isEmpty),
      },
      { view, rows, now: this.#now() },
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

  #switchTo(conversation: ScreenConversation): void {
    if (conversation === this.#conversations.current) return;
    this.#flush();
    this.#conversations.current = conversation;
    conversation.unread = 0;
    this.#keyboard?.forgetAnswer();
    const { dim, bold } = this.#view.theme;
    const title = this.#conversations.titleOf(conversation);
    this.#screen?.painter.print(["", `${dim("──")} ${bold(title)} ${dim("──")}`, ""]);
    this.#approvals.requests = conversation.state.requests;
    this.#changed(conversation);
  }
}

function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
