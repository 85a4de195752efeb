import type { CommandContext } from "../../context.js";
import { projectConversations } from "../../conversations/project-conversations.js";
import { localTime } from "../../format.js";
import type { Workspace } from "../../workspace.js";
import type { Completion } from "../model/completion.js";
import type { Editor } from "../model/editor.js";
import { Menu, type MenuItem } from "../model/menu.js";
import { ProjectFiles } from "../model/project-files.js";
import { slashCommandRows } from "../prompt/slash-commands.js";
import type { Key } from "../screen/key.js";

const maxFiles = 100;
const titles = { "/": "Commands", "@": "Files", "#": "Conversations" } as const;
type Trigger = keyof typeof titles;

interface CompletionsParts {
  readonly context: CommandContext;
  readonly workspace: Workspace;
  /** More can be completed now. */
  readonly onChange: () => void;
}

/** The menu that completes the word that is being written in the editor. */
export class Completions {
  readonly #parts: CompletionsParts;
  #files: ProjectFiles | undefined;
  #conversations: readonly MenuItem<string>[] | undefined;
  #open: { readonly trigger: Trigger; readonly menu: Menu<string> } | undefined;
  /** The trigger of a menu that was closed with Escape: it stays closed for this word. */
  #dismissed: Trigger | undefined;
  #query = "";

  constructor(parts: CompletionsParts) {
    this.#parts = parts;
  }

  /** Undefined if there is nothing to complete. */
  get menu(): Menu<string> | undefined {
    const menu = this.#open?.menu;
    return menu === undefined || menu.rows.length === 0 ? undefined : menu;
  }

  /** Follows the editor. */
  update(editor: Editor): void {
    const completion = editor.completion;
    const trigger = completion === undefined || completion.trigger === "!" ? undefined : completion.trigger;
    if (completion === undefined || trigger === undefined) {
      this.#open = undefined;
      this.#dismissed = undefined;
      return;
    }
    if (this.#dismissed === trigger) return;
    this.#dismissed = undefined;
    if (this.#open?.trigger !== trigger) this.#open = { trigger, menu: this.#menuOf(trigger) };
    this.#query = completion.query;
    this.#match(completion);
  }

  /** `submit`: a command was chosen that needs no arguments. */
  press(key: Key, editor: Editor): "changed" | "submit" | "ignored" {
    const open = this.#open;
    if (open === undefined || key.type !== "key") return "ignored";
    const outcome = open.menu.press(key);
    if (outcome === "closed") {
      this.#dismissed = open.trigger;
      this.#open = undefined;
      return "changed";
    }
    const { selected } = open.menu;
    if (outcome !== "chosen" || selected === undefined) return outcome === "changed" ? "changed" : "ignored";
    editor.complete(this.#replacement(open.trigger, selected));
    this.update(editor);
    this.#open = undefined;
    return open.trigger === "/" && key.name === "enter" && !needsArguments(selected) ? "submit" : "changed";
  }

  close(): void {
    this.#files?.close();
  }

  #replacement(trigger: Trigger, value: string): string {
    if (trigger === "/") return `/${value} `;
    if (trigger === "#") return `#${value} `;
    return `@${/\s/.test(value) ? `"${value}"` : value}${value.endsWith("/") ? "" : " "}`;
  }

  #menuOf(trigger: Trigger): Menu<string> {
    const items = trigger === "/" ? commandItems() : trigger === "#" ? (this.#conversations ?? []) : [];
    if (trigger === "#") void this.#loadConversations();
    if (trigger === "@") this.#projectFiles().refresh();
    const filter = trigger === "@" ? "none" : "fuzzy";
    return new Menu({ title: titles[trigger], items, filter, takesText: false });
  }

  #match({ trigger, query }: Completion): void {
    const menu = this.#open?.menu;
    if (menu === undefined) return;
    if (trigger !== "@") menu.query = query;
    else {
      const found = this.#projectFiles().find(query, maxFiles);
      menu.setItems(found.map(({ candidate }) => ({ value: candidate, label: candidate })));
    }
  }

  #projectFiles(): ProjectFiles {
    const { context } = this.#parts;
    this.#files ??= new ProjectFiles({
      cwd: context.terminal.cwd,
      homedir: context.terminal.homedir,
      privatePaths: [context.home],
      env: Object.fromEntries(Object.entries(context.terminal.env).flatMap(([name, value = ""]) => [[name, value]])),
      onLoaded: () => {
        if (this.#open?.trigger === "@") this.#match({ trigger: "@", query: this.#query });
        this.#parts.onChange();
      },
    });
    return this.#files;
  }

  async #loadConversations(): Promise<void> {
    const { context, workspace } = this.#parts;
    const found = await projectConversations(context, workspace.places, workspace.key.projectRoot).catch(() => []);
    this.#conversations = found
      .filter(({ empty, damaged }) => !empty && !damaged)
      .map(({ id, name, title = "", updatedAt }) => ({
        value: id,
        label: name === undefined ? title : `${name}: ${title}`,
        description: localTime(updatedAt),
      }));
    if (this.#open?.trigger === "#") this.#open.menu.setItems(this.#conversations);
    this.#parts.onChange();
  }
}

function needsArguments(command: string): boolean {
  return slashCommandRows(true).some(({ name, usage }) => name === command && usage.includes("<"));
}

function commandItems(): MenuItem<string>[] {
  return slashCommandRows(true).map(({ name, usage, description }) => ({
    value: name,
    label: `/${usage}`,
    description,
  }));
}
