import type { Conversation } from "../../src/actors/conversation/handle.js";
import { ConversationManager } from "../support/built-package.js";
import { inProcessProvider } from "./in-process-provider.js";
import type { Client, Load } from "./load.js";

/** Runs the load with saved conversations, as ordinary users of the library do. */
export function codyClient(load: Load, directory: string): Promise<Client> {
  return openClient(load, directory, true);
}

/** Runs the load with conversations that are not saved. */
export function unsavedClient(load: Load, directory: string): Promise<Client> {
  return openClient(load, directory, false);
}

async function openClient(load: Load, directory: string, isSaved: boolean): Promise<Client> {
  const inProcess = { provider: "in-process", model: String(load.delayMs) };
  const server = { provider: "openai", api: "responses", model: "gpt-5", baseUrl: load.url } as const;
  const manager = new ConversationManager({
    home: directory,
    env: { XDG_RUNTIME_DIR: directory, OPENAI_API_KEY: "key" },
    providers: [inProcessProvider],
    config: { ...(load.url === undefined ? inProcess : server), persistence: { enabled: isSaved } },
  });
  const opened = await Promise.all(Array.from({ length: load.conversations }, () => manager.newConversation()));
  return {
    play: async (onFirstDelta) => {
      await Promise.all(
        opened.map(async ({ conversation }) => {
          for (let turn = 0; turn < load.turns; turn += 1) await playTurn(conversation, load.deltas, onFirstDelta);
        }),
      );
    },
    close: () => manager.shutdown(),
  };
}

/** Counts letters, because a slow reader receives merged deltas. */
export async function playTurn(
  conversation: Conversation,
  deltas: number,
  onFirstDelta?: (ms: number) => void,
): Promise<void> {
  const begin = performance.now();
  const id = await conversation.submit("go on");
  let letters = 0;
  for await (const event of conversation.events()) {
    if (event.id !== id) continue;
    const { msg } = event;
    if (msg.type === "agent_message_delta") {
      if (letters === 0) onFirstDelta?.(performance.now() - begin);
      letters += msg.delta.length;
    }
    if (msg.type === "turn_aborted" || (msg.type === "task_complete" && msg.error))
      throw new Error(JSON.stringify(msg));
    if (msg.type === "task_complete") break;
  }
  if (letters < deltas) throw new Error(`${letters} letters in ${deltas} deltas`);
}
