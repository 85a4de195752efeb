import { onTestFinished } from "vitest";
import { ConversationManager } from "../../src/manager.js";
import type { ManagerOptions } from "../../src/actors/conversation/open/manager-options.js";
import type { Conversation } from "../../src/actors/conversation/handle.js";
import type { Event, EventMsg } from "../../src/messages/event.js";
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

/** With this variable conversations that need no injected objects run in so many threads. */
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
    ...(threads === undefined ? {} : { threads: Number(threads) }),
    ...options,
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
