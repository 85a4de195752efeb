// Defines a custom provider: anything that turns a request into a stream of model events.
import { ConversationManager, messageText, type ModelEvent, type ModelRequest, type Provider } from "cody";

const shouting: Provider = {
  name: "shouting",
  // A started stream must not throw: it ends with `done` or `failed`, or with neither if the signal is aborted.
  async *stream({ input }: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const last = input.findLast((item) => item.type === "message");
    const text = last === undefined ? "" : messageText(last).toUpperCase();
    const itemId = "answer";
    for (const delta of text.split(/(?<= )/)) {
      if (signal.aborted) return;
      yield { type: "text_delta", itemId, delta };
    }
    // The item enters the history; deltas are only displayed.
    const content = [{ type: "output_text" as const, text }];
    yield { type: "item", itemId, item: { type: "message", role: "assistant", content } };
    yield { type: "done", finishReason: "stop" };
  },
};

const cody = new ConversationManager({
  env: process.env,
  config: { provider: "shouting", model: "loud" },
  providers: [shouting],
});
const { conversation } = await cody.newConversation();
await conversation.submit("is anybody there?");
for await (const { msg } of conversation.events()) {
  if (msg.type === "agent_message") console.log(msg.message);
  if (msg.type === "task_complete" || msg.type === "turn_aborted") break;
}
await cody.shutdown();
