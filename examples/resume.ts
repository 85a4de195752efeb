// Resumes a saved conversation with another manager, which could run in another process.
import { ConversationManager } from "cody";

const options = { env: process.env, config: { provider: "offline" } };

const before = new ConversationManager(options);
const { conversation, conversationId } = await before.newConversation();
await conversation.processMessage("My name is Alice");
await before.shutdown();

const after = new ConversationManager(options);
const resumed = await after.resumeConversation(conversationId);
console.log(`${resumed.turns} turn so far`);
await resumed.submit("What is my name?");
// With `since: 0` the events would start with `session_configured`, the first event of this process.
for await (const { msg } of resumed.events()) {
  if (msg.type === "agent_message") console.log(msg.message);
  if (msg.type === "task_complete" || msg.type === "turn_aborted") break;
}

// Fork the conversation after its first turn; the original is not changed.
const fork = await after.forkConversation(conversationId, { afterTurn: 1 });
console.log(`${fork.conversation.turns} turn in the copy`);
await after.shutdown();
