import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { BroadcastChannel } from "node:worker_threads";
import { onTestFinished } from "vitest";
import { ConversationManager } from "../../src/manager.js";
import type { ManagerOptions } from "../../src/actors/conversation/open/manager-options.js";
import type { Conversation } from "../../src/actors/conversation/handle.js";
import type { Event, EventMsg } from "../../src/messages/event.js";
import type { ModelEvent, ModelRequest } from "../../src/messages/model.js";
import type { Provider } from "../../src/providers/provider.js";
import { maybeSleep, sleepAtRandom } from "./random-sleeps.js";
import { temporaryFolder } from "./temporary-folder.js";

type MsgOf<T extends EventMsg["type"]> = Extract<EventMsg, { type: T }>;

/** After these events a conversation may be idle. */
const quietTypes: ReadonlySet<string> = new Set<EventMsg["type"]>([
  "task_complete",
  "turn_aborted",
  "exec_approval_request",
  "apply_patch_approval_request",
]);

/** Reads a conversation's events in order. */
export class EventLog {
  readonly seen: Event[] = [];
  readonly #events: AsyncIterator<Event>;
  readonly #conversation: Conversation;

  constructor(conversation: Conversation) {
    this.#conversation = conversation;
    this.#events = conversation.events()[Symbol.asyncIterator]();
  }

  /** Reads until an event of this type, and returns its message. */
  until<T extends EventMsg["type"]>(type: T): Promise<MsgOf<T>> {
    return this.untilAny([type]);
  }

  async untilAny<T extends EventMsg["type"]>(types: readonly T[]): Promise<MsgOf<T>> {
    for (;;) {
      const { value, done } = await this.#events.next();
      if (done === true) throw new Error(`the events ended before ${types.join(", ")}: ${this.types().join(", ")}`);
      this.seen.push(value);
      if (quietTypes.has(value.msg.type)) await maybeSleep(this.#conversation);
      if (types.some((type) => type === value.msg.type)) return value.msg as MsgOf<T>;
    }
  }

  types(): string[] {
    return this.seen.map((event) => event.msg.type);
  }
}

/** With this variable conversations that need no injected objects but providers run in so many threads. */
const threads = process.env["CODY_TEST_THREADS"];

/**
 * A manager that is shut down when the test ends. Without a home or a working folder it gets empty temporary ones: the
 * folder the tests run in may change during a test, for example when their output goes to a file in it.
 */
export async function openManager(
  options: ManagerOptions = {},
): Promise<{ manager: ConversationManager; home: string; cwd: string }> {
  const home = options.home ?? (await temporaryFolder());
  const cwd = options.cwd ?? (await workspaceOf(home));
  const manager = new ConversationManager({
    retry: { maxRetries: 2, baseDelayMs: 1, maxDelayMs: 5 },
    ...(threads === undefined ? options : { threads: Number(threads), ...(await forThreads(options)) }),
    home,
    cwd,
  });
  // A test about conversations that must stay awake, or about sleeping, says when they are idle.
  if (options.idleAfter === undefined) sleepAtRandom(manager);
  onTestFinished(() => manager.shutdown());
  return { manager, home, cwd };
}

const workspaces = new Map<string, Promise<string>>();

/**
 * The default working folder. Managers of one home share it, so that a resumed conversation is in its recorded folder.
 */
function workspaceOf(home: string): Promise<string> {
  const workspace = workspaces.get(home) ?? temporaryFolder();
  workspaces.set(home, workspace);
  return workspace;
}

/** A new conversation with a scripted model. */
export async function openConversation({ provider, ...options }: ManagerOptions & { provider: Provider }) {
  const { manager, home, cwd } = await openManager({ ...options, providers: [provider] });
  const { conversation, conversationId } = await manager.newConversation({
    provider: provider.name,
    model: "scripted",
  });
  return { manager, home, cwd, conversation, conversationId, events: new EventLog(conversation) };
}

/**
 * Replaces providers, which would tie the conversations to this thread, by a module that reaches them from any thread.
 * Other injected objects stay, and the conversations too.
 */
async function forThreads({ providers, ...options }: ManagerOptions): Promise<ManagerOptions> {
  const { client, recorder, tokenizer, compactionStrategies, tools, now } = options;
  const others = [client, recorder, tokenizer, compactionStrategies, tools, now];
  // Conversations that are not saved stay in this thread too.
  const stays = others.some((object) => object !== undefined) || options.config?.persistence?.enabled === false;
  if (providers === undefined || stays) return { ...options, ...(providers && { providers }) };
  const channelName = randomUUID();
  const channel = serveProviders(channelName, providers);
  onTestFinished(() => channel.close());
  const path = join(await temporaryFolder(), "setup.mjs");
  const names = providers.map(({ name }) => name);
  const source = new URL("./remote-providers.mjs", import.meta.url).href;
  await writeFile(
    path,
    `import { remoteProviders } from ${JSON.stringify(source)};
    export const providers = remoteProviders(${JSON.stringify(channelName)}, ${JSON.stringify(names)});`,
  );
  return { ...options, setup: pathToFileURL(path) };
}

/** The second argument is only for the linter, which knows no other `postMessage` than that of a window. */
function toThreads(port: { postMessage(message: unknown, transfer: readonly []): void }, message: object): void {
  port.postMessage(message, []);
}

/** The messages of `remote-providers.mjs`. */
type StreamMessage =
  | { readonly id: string; readonly type: "open"; readonly name: string; readonly request: ModelRequest }
  | { readonly id: string; readonly type: "next" | "abort" | "return" };

interface OpenStream {
  readonly events: AsyncIterator<ModelEvent>;
  readonly controller: AbortController;
}

/** Plays the streams of these providers for other threads, one event for each message. */
function serveProviders(channelName: string, providers: readonly Provider[]): BroadcastChannel {
  const channel = new BroadcastChannel(channelName);
  const answer = (message: object): void => toThreads(channel, message);
  const streams = new Map<string, OpenStream>();
  const open = (name: string, request: ModelRequest): OpenStream => {
    const controller = new AbortController();
    const provider = providers.find((each) => each.name === name);
    if (provider === undefined) throw new Error(`no provider ${name}`);
    return { events: provider.stream(request, controller.signal)[Symbol.asyncIterator](), controller };
  };
  const receive = async (message: StreamMessage): Promise<void> => {
    const { id, type } = message;
    try {
      if (type === "open") streams.set(id, open(message.name, message.request));
      const stream = streams.get(id);
      if (type === "abort") return stream?.controller.abort();
      if (type === "return") {
        streams.delete(id);
        return void (await stream?.events.return?.());
      }
      answer({ id, outcome: await stream?.events.next() });
    } catch (error) {
      answer({ id, outcome: { error: error instanceof Error ? error.message : String(error) } });
    }
  };
  channel.addEventListener(
    "message",
    (event) => void receive((event as unknown as { readonly data: StreamMessage }).data),
  );
  channel.unref();
  return channel;
}
