// One conversation: a question goes in, the answer comes out as it is made.
import { ConversationManager } from "cody";

// Without `provider` the first key found in `env` decides; `offline` is the small model that needs none.
const cody = new ConversationManager({ env: process.env, config: { provider: "offline" } });
const { conversation } = await cody.newConversation();

await conversation.submit([{ type: "text", text: "What is 12 * (3 + 4)?" }]);
for await (const { msg } of conversation.events()) {
  if (msg.type === "agent_message_delta") process.stdout.write(msg.delta);
  if (msg.type === "error") console.error(msg.message);
  // A turn ends once, in one of two ways.
  if (msg.type === "task_complete" || msg.type === "turn_aborted") break;
}
console.log();

// What was said is on disk by now; shutting down ends threads and lets go of files.
await cody.shutdown();
