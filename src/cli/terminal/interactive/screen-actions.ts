import type { Conversation } from "../../../actors/conversation/handle.js";
import { counted } from "../../../base/text/counted.js";
import { shortened } from "../../../base/text/truncate.js";
import { visible } from "../../../base/text/visible.js";
import type { ConversationPlaces } from "../../../config/paths.js";
import { knownModels } from "../../../config/models/models.js";
import { hasKey, providerNames, vendorOf } from "../../../config/providers/vendors.js";
import { nestedSetting, type ConfigKey } from "../../../config/settings/setting-keys.js";
import { ApprovalPolicy, SandboxMode } from "../../../messages/tools/policy.js";
import { conversationExcerpt } from "../../../rollouts/list/conversation-excerpt.js";
import { changeConfig } from "../../commands/settings/change-config.js";
import type { CommandContext } from "../../context.js";
import type { SavedConversation } from "../../conversations/named-conversations.js";
import { conversationsEverywhere, projectConversations } from "../../conversations/project-conversations.js";
import { localTime, tokenText } from "../../format.js";
import { Menu, type MenuItem } from "../model/menu.js";
import { readTurns, type SavedTurn } from "../prompt/conversation-turns.js";
import type { PromptConversation } from "../prompt/prompt-conversation.js";
import type { ListedSetting, Picker, ScreenCommands } from "../prompt/slash-call.js";
import { cellWidth } from "../screen/cells.js";
import { diffLines } from "../view/diff.js";
import { passThroughTmux } from "../screen/tmux.js";
import type { ThemeChoice } from "../view/themes.js";
import { cleanLines } from "../view/rows.js";
import { menuOverlay } from "./overlay.js";
import type { AppHandle } from "./app-handle.js";
import type { OpenConversations } from "./open-conversations.js";
import type { ScreenConversation } from "./screen-conversation.js";

const themes = ["auto", "dark", "light", "none"] as const satisfies readonly ThemeChoice[];
const maxTitleChars = 80;
const maxPreviewChars = 1_500;
const maxCopyBytes = 100_000;

interface ScreenActionsParts {
  readonly context: CommandContext;
  readonly conversations: OpenConversations;
  readonly app: AppHandle;
  readonly target: () => PromptConversation;
}

/** The slash commands' actions on the screen besides printing: lists to choose from, and settings of the screen itself. */
export class ScreenActions implements ScreenCommands {
  readonly #parts: ScreenActionsParts;
  readonly #pickers: Readonly<Record<Picker, () => Promise<void>>> = {
    fork: () => this.#pickFork(),
    permissions: () => this.#pickPermissions(),
    resume: () => this.#pickConversation(),
    theme: () => this.#pickTheme(),
    tree: () => this.#pickTurn(),
  };
  readonly #choosers: Readonly<Record<ListedSetting, () => Promise<string | undefined>>> = {
    approvals: () => this.#chooseApprovals(),
    model: () => this.#chooseModel(),
    provider: () => this.#chooseProvider(),
    sandbox: () => this.#chooseSandbox(),
  };

  constructor(parts: ScreenActionsParts) {
    this.#parts = parts;
  }

  async pick(what: Picker): Promise<void> {
    await this.#pickers[what]();
  }

  async choose(setting: ListedSetting): Promise<string | undefined> {
    return await this.#choosers[setting]();
  }

  async newConversation(): Promise<void> {
    const { app, conversations } = this.#parts;
    const { current } = conversations;
    // One without a message would only be another empty entry of the list.
    if (current.conversation === undefined && !current.state.isBusy) return app.print(["This conversation is new."]);
    app.switchTo(conversations.create());
  }

  conversationLines(): string[] {
    const { all, current } = this.#parts.conversations;
    const rows = all.map((conversation, index) => ({
      place: `${conversation === current ? "*" : " "} ${index + 1}`,
      state: stateText(conversation),
      title: visible(shortened(conversation.title, maxTitleChars)),
      model: conversation.settings.model,
    }));
    const stateColumns = Math.max(...rows.map(({ state }) => state.length));
    const titleColumns = Math.max(...rows.map(({ title }) => cellWidth(title)));
    return rows.map(({ place, state, title, model }) => {
      const padding = " ".repeat(titleColumns - cellWidth(title));
      return `${place}  ${state.padEnd(stateColumns)}  ${title}${padding}  ${model}`;
    });
  }

  printDiff(unifiedDiff: string): void {
    const { app } = this.#parts;
    app.add({ type: "output", lines: ["", ...diffLines(unifiedDiff, app.view())], isStyled: true });
  }

  async setTheme(name: string): Promise<string> {
    const choice = themes.find((theme) => theme === name);
    if (choice === undefined) return `Unknown theme ${visible(name)}. Themes: ${themes.join(", ")}`;
    this.#parts.app.setTheme(choice);
    await this.#save("terminal.theme", choice);
    return `Theme: ${choice}`;
  }

  async toggleKeys(): Promise<string> {
    const { editor } = this.#parts.app;
    editor.keys = editor.keys === "vi" ? "emacs" : "vi";
    await this.#save("terminal.keys", editor.keys);
    return `Keys: ${editor.keys}`;
  }

  copyAnswer(): string {
    const { lastAnswer } = this.#parts.conversations.current.state;
    if (lastAnswer === "") return "There is no answer to copy yet.";
    const bytes = Buffer.from(lastAnswer);
    if (bytes.length > maxCopyBytes)
      return `The last answer is too long for the terminal's clipboard: ${bytes.length} bytes.`;
    const sequence = `\u001b]52;c;${bytes.toString("base64")}\u0007`;
    this.#parts.app.write(passThroughTmux(sequence, this.#parts.context.terminal.env));
    return `Sent the last answer to the terminal's clipboard (${counted(lastAnswer.length, "character")}).`;
  }

  async #chooseModel(): Promise<string | undefined> {
    const target = this.#parts.target();
    const { provider, model } = target.settings;
    const all = knownModels(target.workspace.config.models);
    const own = all.filter((each) => each.provider === provider);
    const known = own.some(({ id }) => id === model)
      ? own
      : [{ id: model, contextWindow: undefined, price: undefined }, ...own];
    const items = known.map(({ id, contextWindow, price }) => ({
      value: id,
      label: id,
      description: [
        ...(contextWindow === undefined ? [] : [`${tokenText(contextWindow)} tokens`]),
        ...(price === undefined ? [] : [`$${price.input} in, $${price.output} out per million`]),
        ...(id === model ? ["now"] : []),
      ].join(", "),
    }));
    const chosen = await this.#chooseFrom(`Model of ${provider}; another one: /model <name>`, items, {
      selected: model,
    });
    return chosen === model ? undefined : chosen;
  }

  async #chooseProvider(): Promise<string | undefined> {
    const target = this.#parts.target();
    const { config } = target.workspace;
    const names = providerNames(config.providers);
    const sources = { env: this.#parts.context.terminal.env, providers: config.providers, auth: config.auth };
    const now = target.settings.provider;
    const items = names.map((name) => {
      const vendor = vendorOf(name);
      const isUsable =
        hasKey(name, sources) || name === "offline" || (vendor !== undefined && vendor.key === undefined);
      const description = [vendor?.model ?? "", isUsable ? "" : "no key", name === now ? "now" : ""];
      return { value: name, label: name, description: description.filter((part) => part !== "").join(", ") };
    });
    const chosen = await this.#chooseFrom("Provider", items, { selected: now });
    return chosen === now ? undefined : chosen;
  }

  async #chooseApprovals(): Promise<string | undefined> {
    const target = this.#parts.target();
    const now = target.settings.approvalPolicy;
    const texts: Partial<Record<ApprovalPolicy, string>> = {
      "on-request": "asks before what the sandbox and the rules do not allow",
      untrusted: "asks before every command that is not known to only read",
      never: "never asks; what would need approval is refused",
    };
    const items = ApprovalPolicy.options.flatMap((value) => {
      const description = texts[value];
      return description === undefined ? [] : [{ value, label: value, description }];
    });
    const chosen = await this.#chooseFrom("When cody asks for approval", items, { selected: now });
    return chosen === now ? undefined : chosen;
  }

  async #chooseSandbox(): Promise<string | undefined> {
    const target = this.#parts.target();
    const now = target.settings.sandbox;
    const texts = {
      "read-only": "commands may read files and change nothing",
      "workspace-write": "commands may write in the working folder",
      "danger-full-access": "commands run without a sandbox",
    } satisfies Record<SandboxMode, string>;
    const items = SandboxMode.options.map((value) => ({ value, label: value, description: texts[value] }));
    const chosen = await this.#chooseFrom("What commands may access", items, { selected: now });
    return chosen === now ? undefined : chosen;
  }

  /** The rules of the project; a chosen one can be removed. */
  async #pickPermissions(): Promise<void> {
    const { context, app } = this.#parts;
    const { projectPolicy } = await import("../../commands/settings/project-policy.js");
    const flags = { ...context.flags, dryRun: false, project: false };
    const { rules } = await projectPolicy({ ...context, flags });
    if (rules.problem !== undefined) return await context.tell(`✗ ${rules.problem}`);
    const all = [...rules.user, ...rules.project];
    if (all.length === 0) return app.print(["No rules. To add one: /permissions allow npm test"]);
    const items = all.map((rule) => ({
      value: rule,
      label: `${rule.decision.padEnd("allow".length)}  ${visible(rule.text)}`,
      description: rule.source,
    }));
    const rule = await this.#chooseFrom("Rules; Enter removes one. To add one: /permissions allow npm test", items);
    if (rule === undefined) return;
    const confirmed = await this.#chooseFrom(`Remove the rule ${visible(rule.text)}?`, [
      { value: false, label: "No, keep it" },
      { value: true, label: "Yes, remove it" },
    ]);
    if (confirmed !== true) return;
    const { permissionsCommand } = await import("../../commands/settings/permissions.js");
    await permissionsCommand({ ...context, flags, args: ["remove", rule.text] });
  }

  async #pickTheme(): Promise<void> {
    const items = themes.map((value) => ({ value, label: value }));
    const chosen = await this.#chooseFrom("Theme", items);
    if (chosen !== undefined) this.#parts.app.print([await this.setTheme(chosen)]);
  }

  async #pickConversation(): Promise<void> {
    const { context, app } = this.#parts;
    const target = this.#parts.target();
    const { places, projectRoot } = target.surroundings;
    const own = await projectConversations(context, places, projectRoot);
    const previews = new Map<string, readonly string[]>();
    const chosen = await this.#chooseFrom<SavedConversation | "others">(
      "Continue a conversation",
      [...conversationItems(own, target.id), { value: "others", label: "Conversations of other projects …" }],
      { preview: (value) => this.#preview(value, previews) },
    );
    if (chosen === undefined) return;
    if (chosen !== "others") return await target.resume({ id: chosen.id });
    const ids = new Set(own.map(({ id }) => id));
    const others = conversationsEverywhere(context, places).filter(({ id }) => !ids.has(id));
    if (others.length === 0) return app.print(["There are no conversations of other projects."]);
    const other = await this.#chooseFrom(
      "Continue a conversation of another project, in its folder",
      conversationItems(others, target.id),
      {
        preview: (value) => this.#preview(value, previews),
      },
    );
    if (other !== undefined) await target.resume({ id: other.id, path: other.path }, { cwd: "recorded" });
  }

  /** How a conversation began and ended; read when it is selected first. */
  #preview(value: SavedConversation | "others", known: Map<string, readonly string[]>): readonly string[] {
    if (value === "others") return [];
    const { id, model = "", updatedAt, cwd = "" } = value;
    const found = known.get(id);
    if (found !== undefined) return found;
    const head = [id, `${localTime(updatedAt)}  ${model}`, cwd, ""];
    known.set(id, head);
    void this.#readPreview(value, (lines) => known.set(id, [...head, ...lines]));
    return head;
  }

  async #readPreview({ id, path }: SavedConversation, show: (lines: readonly string[]) => void): Promise<void> {
    const { messages, firstMessage = "", lastAnswer = "" } = await conversationExcerpt(path, id);
    const texts = [counted(messages, "message"), "", firstMessage, "", lastAnswer];
    show(texts.flatMap((text) => cleanLines(shortened(text, maxPreviewChars))));
    this.#parts.app.refresh();
  }

  async #pickFork(): Promise<void> {
    const turn = await this.#chooseTurn("Continue in a copy, after which turn?");
    if (turn === undefined) return;
    const target = this.#parts.target();
    await target.fork(turn.number);
    this.#parts.app.print([`Forked after turn ${turn.number}: ${this.#parts.target().id}`]);
  }

  /** Goes back to a turn: in a copy, and if wanted with the files as they were then. */
  async #pickTurn(): Promise<void> {
    const { context, app } = this.#parts;
    const target = this.#parts.target();
    const turn = await this.#chooseTurn("The turns of this conversation; go back to one");
    if (turn === undefined) return;
    const conversation = target.begun?.conversation;
    if (conversation === undefined) return;
    const undos = await laterChanges(conversation, target.surroundings.places, context.terminal.env, turn.number);
    const how = await this.#chooseFrom(`After turn ${turn.number}`, [
      { value: "copy" as const, label: "Continue from there in a copy; files stay as they are" },
      ...(undos === 0
        ? []
        : [
            {
              value: "files" as const,
              label: `Continue from there, and revert the file changes since (${counted(undos, "turn")})`,
            },
          ]),
    ]);
    if (how === undefined) return;
    const count = how === "files" ? undos : 0;
    for (let done = 0; done < count; done += 1) {
      const { success, message } = await conversation.undo();
      if (!success) return await context.tell(`✗ ${message}`);
      app.print(message.split("\n"));
    }
    await target.fork(turn.number);
    app.print([`Continued after turn ${turn.number} in a copy: ${this.#parts.target().id}`]);
  }

  async #chooseTurn(title: string): Promise<SavedTurn | undefined> {
    const { app } = this.#parts;
    const conversation = this.#parts.target().begun?.conversation;
    const turns = conversation === undefined ? [] : await readTurns(conversation);
    if (turns.length === 0) {
      app.print(["This conversation has no saved turns yet."]);
      return undefined;
    }
    const items = turns.toReversed().map((turn) => ({
      value: turn,
      label: `${turn.number}  ${visible(shortened(turn.title, maxTitleChars))}`,
      description: localTime(turn.at),
    }));
    return await this.#chooseFrom(title, items);
  }

  async #save(key: ConfigKey, value: string): Promise<void> {
    await changeConfig(this.#parts.context, nestedSetting(key, value));
  }

  /** Opens a list; resolves with the chosen value, or undefined. */
  #chooseFrom<T>(
    title: string,
    items: readonly MenuItem<T>[],
    options: { readonly selected?: T; readonly preview?: (value: T) => readonly string[] } = {},
  ): Promise<T | undefined> {
    const { preview, selected } = options;
    const menu = new Menu<T>({ title, items, ...(preview === undefined ? {} : { preview }) });
    if (selected !== undefined) menu.select(selected);
    return new Promise((resolve) => this.#parts.app.open(menuOverlay(menu, resolve)));
  }
}

/** The number of turns after one that changed files and were not undone. */
async function laterChanges(
  { id, rolloutPath }: Conversation,
  places: ConversationPlaces,
  env: Readonly<NodeJS.ProcessEnv>,
  after: number,
): Promise<number> {
  if (rolloutPath === null) return 0;
  const { SavedChanges } = await import("../../commands/changes/saved-changes.js");
  const changes = await SavedChanges.read(places, { id, path: rolloutPath }, env);
  const numbers = [...changes.turns.values()].filter((number) => number > after);
  return numbers.filter((number) => !changes.diff(number).isEmpty && changes.reverted(number).length === 0).length;
}

function conversationItems(all: readonly SavedConversation[], currentId: string): MenuItem<SavedConversation>[] {
  return all
    .filter(({ id, empty, damaged }) => id !== currentId && !empty && !damaged)
    .toSorted((a, b) => b.updatedAt - a.updatedAt)
    .map((value) => ({
      value,
      label: visible(
        shortened([value.name, value.title].filter((part) => part !== undefined).join(": "), maxTitleChars),
      ),
      description: localTime(value.updatedAt),
    }));
}

function stateText({ state, unread }: ScreenConversation): string {
  if (state.requests.length > 0) return "needs approval";
  if (state.isBusy) return "running";
  return unread > 0 ? "unread" : "idle";
}
