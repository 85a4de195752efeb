import { appendFileSync } from "node:fs";
import { Conversation } from "../../src/actors/conversation/handle.js";
import { TurnView } from "../../src/actors/conversation/mirror.js";
import { EventQueue } from "../../src/actors/runtime/event-queue.js";
import type { ConversationManager } from "../../src/manager.js";

/** With this variable conversations sleep at random moments. It names a file that gets one byte for each sleep. */
const sleepsFile = process.env["CODY_TEST_SLEEPS"];

const chance = 0.5;

/** Conversations that may sleep, with the attempt that is under way. */
const sleepers = new WeakMap<Conversation, { attempt: Promise<void> | undefined }>();

const opening = [
  "newConversation",
  "resumeConversation",
  "resumeRollout",
  "forkConversation",
  "forkRollout",
] as const satisfies readonly (keyof ConversationManager)[];

const waking = [
  "submit",
  "processMessage",
  "readHistory",
  "replaceHistory",
  "rename",
  "setPinned",
  "compact",
  "undoCompaction",
  "previewCompaction",
  "contextUsage",
  "summarize",
  "undo",
] as const satisfies readonly (keyof Conversation)[];

type Method = (...values: unknown[]) => Promise<unknown>;

/** Lets the conversations of this manager sleep now and then, before they are used and when a turn has ended. */
export function sleepAtRandom(manager: ConversationManager): void {
  if (sleepsFile === undefined) return;
  prepareOnce();
  for (const name of opening) {
    replaceMethod(manager, name, async (open, values) => {
      const opened = (await open(...values)) as Conversation | { readonly conversation: Conversation };
      const conversation = opened instanceof Conversation ? opened : opened.conversation;
      if (!sleepers.has(conversation)) sleepers.set(conversation, { attempt: undefined });
      return opened;
    });
  }
}

/** Resolves when the conversation has perhaps fallen asleep; undefined when it stays as it is. */
export function maybeSleep(conversation: Conversation): Promise<void> | undefined {
  const sleeper = sleepers.get(conversation);
  // What is called during an attempt waits for it too, so that calls keep their order.
  if (sleeper === undefined || sleeper.attempt !== undefined) return sleeper?.attempt;
  if (Math.random() > chance) return undefined;
  sleeper.attempt = fallAsleep(conversation).finally(() => (sleeper.attempt = undefined));
  return sleeper.attempt;
}

async function fallAsleep(conversation: Conversation): Promise<void> {
  if (await conversation.sleep()) appendFileSync(sleepsFile ?? "", ".");
}

let isPrepared = false;

function prepareOnce(): void {
  if (isPrepared) return;
  isPrepared = true;
  // By design a sleep drops unread events and the text of the last turn, which most tests look at later.
  EventQueue.prototype.release = () => undefined;
  TurnView.prototype.release = () => undefined;
  for (const name of waking) {
    replaceMethod(Conversation.prototype, name, function (call, values) {
      const attempt = maybeSleep(this);
      return attempt === undefined ? call(...values) : attempt.then(() => call(...values));
    });
  }
}

/** Replaces a method; the replacement gets the original, bound to its object. */
function replaceMethod<T extends object>(
  target: T,
  name: keyof T & string,
  replacement: (this: T, call: Method, values: readonly unknown[]) => Promise<unknown>,
): void {
  const original = target[name] as Method;
  Object.defineProperty(target, name, {
    configurable: true,
    value(this: T, ...values: unknown[]) {
      return replacement.call(this, original.bind(this), values);
    },
  });
}
