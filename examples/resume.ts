// A conversation outlives its process: another manager, here or elsewhere, goes on in the same file.
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
// `since: 0` would begin with `session_configured`; the events of this process are numbered from there.
for await (const { msg } of resumed.events()) {
  if (msg.type === "agent_message") console.log(msg.message);
  if (msg.type === "task_complete" || msg.type === "turn_aborted") break;
}

// A copy that goes its own way after the first turn; the original stays as it is.
const fork = await after.forkConversation(conversationId, { afterTurn: 1 });
console.log(`${fork.conversation.turns} turn in the copy`);
await after.shutdown();
