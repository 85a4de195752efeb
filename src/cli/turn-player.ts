import type { Conversation } from "../actors/conversation/handle.js";
import type { Event } from "../messages/event.js";
import type { Renderer } from "./render.js";

export type TurnOutcome = "answered" | "failed" | "aborted";

/** Plays the turns of one conversation, one after another, and shows what happens in them. */
export class TurnPlayer {
  readonly conversation: Conversation;
  readonly #render: Renderer;
  readonly #events: AsyncIterator<Event>;

  constructor(conversation: Conversation, render: Renderer) {
    this.conversation = conversation;
    this.#render = render;
    this.#events = conversation.events()[Symbol.asyncIterator]();
  }

  async play(text: string, signal: AbortSignal): Promise<TurnOutcome> {
    if (signal.aborted) return "aborted";
    const interrupt = (): void => void this.conversation.interrupt().catch(() => undefined);
    const id = await this.conversation.submit(text);
    signal.addEventListener("abort", interrupt, { once: true });
    if (signal.aborted) interrupt();
    try {
      return await this.#showUntilEnd(id);
    } finally {
      signal.removeEventListener("abort", interrupt);
    }
  }

  async #showUntilEnd(id: string): Promise<TurnOutcome> {
    let started = false;
    for (;;) {
      const { value: event, done } = await this.#events.next();
      if (done === true) return "failed";
      await this.#render(event);
      await this.#react(event);
      if (event.id !== id) continue;
      const { msg } = event;
      if (msg.type === "task_started") started = true;
      if (msg.type === "task_complete") return msg.error ? "failed" : "answered";
      if (msg.type === "turn_aborted") return "aborted";
      // Refused before it began: no other event will end it.
      if (msg.type === "error" && !started) return "failed";
    }
  }

  async #react({ msg }: Event): Promise<void> {
    // Nobody is asked yet, and what nobody allowed does not run.
    if (msg.type === "exec_approval_request") {
      await this.conversation.submit({ type: "exec_approval", id: msg.approval_id, decision: "denied" });
    }
  }
}
