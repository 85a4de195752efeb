import { stat } from "node:fs/promises";
import { isAbsolute } from "node:path";
import type { Conversation } from "../../../actors/conversation/handle.js";
import { InvalidInputError } from "../../../base/errors.js";
import { homePaths } from "../../../config/paths.js";
import { findProjectRoots } from "../../../config/project/project.js";
import type { ControlledConversations } from "../../../control/control-server.js";
import type { ControlRequest } from "../../../messages/control.js";
import { FailureError } from "../../../messages/failure-error.js";
import type { ContextOf, SharedContext } from "../../context.js";
import { loadSettings } from "../../load-settings.js";
import type { Terminal } from "../../terminal/terminal.js";
import { openWorkspace, type Workspace } from "../../workspace.js";

/** Sleeping ones are closed to make room for others. */
const maxOpen = 500;

type OpenRequest = Extract<ControlRequest, { type: "open" }>;

interface Entry {
  readonly conversation: Conversation;
  readonly folder: Pick<OpenRequest, "cwd" | "recorded_cwd">;
  /** The settings it was opened with. */
  readonly settings: string;
}

/** The conversations of the daemon. Those with the same settings share a workspace. */
export class DaemonConversations implements ControlledConversations {
  readonly #context: ContextOf<"daemon">;
  readonly #entries = new Map<string, Entry>();
  readonly #workspaces = new Map<string, Workspace>();
  readonly #onShutdown: () => void;
  /** One opening at a time: two must not open the same conversation. */
  #opening: Promise<unknown> = Promise.resolve();
  #isClosing = false;

  constructor(context: ContextOf<"daemon">, onShutdown: () => void) {
    this.#context = context;
    this.#onShutdown = onShutdown;
  }

  all(): Conversation[] {
    for (const [id, { conversation }] of this.#entries) if (conversation.ending !== undefined) this.#entries.delete(id);
    return [...this.#entries.values()].map(({ conversation }) => conversation);
  }

  get(conversationId: string): Conversation | undefined {
    return this.all().find(({ id }) => id === conversationId);
  }

  async open(request: OpenRequest): Promise<Conversation> {
    const opened = this.#opening.then(() => this.#open(request));
    this.#opening = opened.catch(() => undefined);
    return await opened;
  }

  shutdown(): void {
    this.#onShutdown();
  }

  /** Ends the running turns and closes everything; requests that wait for approval stay open in the files. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#opening;
    await Promise.all(this.all().map((conversation) => conversation.release()));
    await Promise.all([...this.#workspaces.values()].map((workspace) => workspace[Symbol.asyncDispose]()));
  }

  async #open(request: OpenRequest): Promise<Conversation> {
    if (this.#isClosing) throw failure("actor_stopped", "the daemon is stopping");
    const { conversation_id: id } = request;
    const known = this.get(id) === undefined ? undefined : this.#entries.get(id);
    const folder = known?.folder ?? request;
    const context = await contextIn(this.#context, folder);
    const settings = await settingsKey(context, folder.cwd);
    if (known !== undefined) {
      // A turn ends with the settings it has begun with.
      const isKept = known.settings === settings || known.conversation.openTurn !== undefined;
      if (isKept || !(await known.conversation.release())) return known.conversation;
      this.#entries.delete(id);
    }
    await this.#makeRoom();
    const workspace = this.#workspaces.get(settings) ?? (await openWorkspace(context));
    this.#workspaces.set(settings, workspace);
    try {
      const target = request.path === undefined ? { id } : { id, path: request.path };
      const conversation = await workspace.resume(target, { allowEmpty: true });
      const saved = await conversation.flush();
      if (saved.status === "not_saved") {
        // Nobody would see the warnings of turns that are played and lost, so the sender gets an error.
        await conversation.release();
        throw failure("not_saved", `The daemon cannot save conversation ${conversation.id}: ${saved.reason}`);
      }
      this.#entries.set(conversation.id, { conversation, folder, settings });
      this.#context.log("info", `opened ${conversation.id}`, { daemon: true });
      return conversation;
    } finally {
      await this.#closeUnused();
    }
  }

  async #makeRoom(): Promise<void> {
    for (const conversation of this.all()) {
      if (this.#entries.size < maxOpen) return;
      if (!conversation.isAwake && conversation.openTurn === undefined) await conversation.release();
      this.all();
    }
    if (this.#entries.size >= maxOpen)
      throw failure("busy", `the daemon has ${maxOpen} conversations that are working`);
  }

  /** Closes the workspaces whose settings no conversation has any more. */
  async #closeUnused(): Promise<void> {
    const used = new Set([...this.#entries.values()].map(({ settings }) => settings));
    for (const [settings, workspace] of this.#workspaces) {
      if (used.has(settings)) continue;
      this.#workspaces.delete(settings);
      await workspace[Symbol.asyncDispose]();
    }
  }
}

type WorkspaceContext = ContextOf<"daemon"> & SharedContext<"recordedCwd">;

/** The context of a command in another folder, which reports to the log. */
async function contextIn(
  context: ContextOf<"daemon">,
  { cwd, recorded_cwd: recordedCwd }: Entry["folder"],
): Promise<WorkspaceContext> {
  const isFolder = isAbsolute(cwd) && (await stat(cwd).catch(() => undefined))?.isDirectory() === true;
  if (!isFolder) throw new InvalidInputError(`the folder ${cwd} does not exist`);
  const tell = (text: string): Promise<void> => {
    context.log("warn", text, { daemon: true });
    return Promise.resolve();
  };
  return {
    ...context,
    terminal: Object.create(context.terminal, { cwd: { value: cwd } }) as Terminal,
    projectRoots: () => findProjectRoots(cwd),
    flags: { ...context.flags, recordedCwd },
    tell,
    tellOnce: tell,
  };
}

/** Changes when the configuration or a login changes. */
async function settingsKey(context: WorkspaceContext, cwd: string): Promise<string> {
  const { values } = await loadSettings(context);
  const tokens = await stat(homePaths(context.home).tokens).catch(() => undefined);
  return JSON.stringify([cwd, context.flags.recordedCwd, values, tokens?.mtimeMs]);
}

function failure(code: "actor_stopped" | "busy" | "not_saved", message: string): FailureError {
  return new FailureError({ code, message, retryable: code === "busy" });
}
