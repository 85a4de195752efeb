// Runs one conversation: submits a question and prints the answer while it streams.
import { ConversationManager } from "cody";

// Without `provider`, the first API key in `env` decides; `offline` is a small built-in model that needs no key.
const cody = new ConversationManager({ env: process.env, config: { provider: "offline" } });
const { conversation } = await cody.newConversation();

await conversation.submit([{ type: "text", text: "What is 12 * (3 + 4)?" }]);
for await (const { msg } of conversation.events()) {
  if (msg.type === "agent_message_delta") process.stdout.write(msg.delta);
  if (msg.type === "error") console.error(msg.message);
  // A turn ends with exactly one of these two events.
  if (msg.type === "task_complete" || msg.type === "turn_aborted") break;
}
console.log();

// The conversation is already saved; shutdown stops the threads and closes the files.
await cody.shutdown();
