import type { CommandContext } from "../../context.js";
import { describeError } from "../../describe-error.js";
import { Menu } from "../model/menu.js";
import type { PromptConversation, ResumeOptions, SettingsChange } from "../prompt/prompt-conversation.js";
import { isPromptCommand, promptText } from "../prompt/server-prompts.js";
import type { Ask } from "../prompt/slash-call.js";
import { isSlashCommand, slashCommand, slashCommandRows, unknownCommandText } from "../prompt/slash-commands.js";
import type { Target } from "../../workspace.js";
import type { OpenConversations } from "./open-conversations.js";
import { menuOverlay, type Overlay } from "./overlay.js";
import type { ScreenConversation } from "./screen-conversation.js";
import type { AppHandle } from "./app-handle.js";
import { ScreenActions } from "./screen-actions.js";

interface PromptCommandsParts {
  readonly context: CommandContext;
  readonly conversations: OpenConversations;
  readonly app: AppHandle;
}

/** Runs what is typed and is not a message: slash commands, prompts of MCP servers, and shell commands. */
export class PromptCommands {
  readonly #context: CommandContext;
  readonly #conversations: OpenConversations;
  readonly #app: AppHandle;
  readonly #actions: ScreenActions;
  /** Commands run one after another. */
  #last: Promise<void> = Promise.resolve();
  #running: AbortController | undefined;

  constructor(parts: PromptCommandsParts) {
    this.#context = parts.context;
    this.#conversations = parts.conversations;
    this.#app = parts.app;
    this.#actions = new ScreenActions({ ...parts, target: () => this.#target() });
  }

  isCommand(text: string): boolean {
    return isShellCommand(text) || isSlashCommand(text.trim()) || isPromptCommand(text.trim());
  }

  run(text: string): void {
    this.#last = this.#last.then(() => this.#run(text));
  }

  /** Stops the command that runs; false if there is none. */
  interrupt(): boolean {
    if (this.#running === undefined || this.#running.signal.aborted) return false;
    this.#running.abort();
    return true;
  }

  openPalette(): void {
    const items = slashCommandRows(true).map((row) => ({
      value: row,
      label: `/${row.usage}`,
      description: row.description,
    }));
    const menu = new Menu({ title: "Commands", items });
    this.#app.open(
      menuOverlay(menu, (chosen) => {
        if (chosen === undefined) return;
        // A command with arguments can do without them if they are optional.
        if (chosen.usage.includes("<")) this.#app.editor.insert(`/${chosen.name} `);
        else this.run(`/${chosen.name}`);
      }),
    );
  }

  async #run(text: string): Promise<void> {
    const { current } = this.#conversations;
    const running = new AbortController();
    this.#running = running;
    const line = text.trim();
    try {
      if (isShellCommand(text)) {
        current.send({ items: [], text: line, kind: "queue", command: line.slice(1).trim() });
      } else if (isPromptCommand(line)) {
        const items = [{ type: "text" as const, text: await promptText(this.#target(), line, running.signal) }];
        current.send({ items, text: line, kind: "steer", isOutside: true });
      } else await this.#runSlash(line, running.signal);
    } catch (error) {
      const { lines } = describeError(error);
      this.#context.log("error", lines.join(" "), { stack: error instanceof Error ? error.stack : undefined });
      await this.#context.tell(lines.join("\n"));
    } finally {
      this.#running = undefined;
    }
  }

  async #runSlash(line: string, signal: AbortSignal): Promise<void> {
    this.#app.add({ type: "command", text: line });
    const command = slashCommand(line);
    if (command === undefined) return await this.#context.tell(unknownCommandText(line));
    const ask: Ask = (question) => this.#ask(question, signal);
    const then = await command({ context: this.#context, current: this.#target(), signal, ask, screen: this.#actions });
    if (then === "leave") this.#app.leave();
  }

  /** The line that is typed as an answer; undefined if there is none. */
  #ask(question: string, signal: AbortSignal): Promise<string | undefined> {
    const draft = this.#app.editor.text;
    this.#app.editor.setText("");
    return new Promise((resolve) => {
      const end = (answer: string | undefined): void => {
        this.#app.editor.setText(draft);
        resolve(answer);
      };
      const overlay: Overlay = { type: "question", question, answer: end, closed: () => end(undefined) };
      signal.addEventListener("abort", () => this.#app.open(undefined), { once: true });
      this.#app.open(overlay);
    });
  }

  /** The conversation on the screen, as commands of both prompts know it. */
  #target(): PromptConversation {
    const conversations = this.#conversations;
    const app = this.#app;
    const shown = conversations.current;
    return {
      get id() {
        return conversations.current.id;
      },
      workspace: shown.workspace,
      surroundings: shown.surroundings,
      get begun() {
        return conversations.current.begun;
      },
      get labels() {
        return conversations.current.labels;
      },
      get settings() {
        return conversations.current.settings;
      },
      get status() {
        return conversations.current.status;
      },
      player: () => conversations.current.player(),
      change: (change: SettingsChange) => shown.change(change),
      clear: async () => {
        app.switchTo(conversations.create());
        conversations.remove(shown);
        await shown.close();
      },
      fork: async (afterTurn) => {
        const options = afterTurn === undefined ? {} : { afterTurn };
        const { conversation } = await shown.workspace.fork({ id: shown.id }, options);
        await this.#show(conversations.create(), conversation);
      },
      resume: async (target: Target, options: ResumeOptions = {}) => {
        const open = conversations.find(target.id);
        if (open !== undefined) return app.switchTo(open);
        const conversation = await shown.workspace.resume(target, { allowEmpty: true, ...options });
        const known = conversations.find(conversation.id);
        if (known !== undefined) return app.switchTo(known);
        await this.#show(conversations.create(), conversation);
        if (shown.conversation === undefined) conversations.remove(shown);
      },
    };
  }

  async #show(conversation: ScreenConversation, opened: Parameters<ScreenConversation["show"]>[0]): Promise<void> {
    await conversation.show(opened, () => this.#app.switchTo(conversation));
  }
}

function isShellCommand(text: string): boolean {
  return /^!\s*\S/.test(text);
}
