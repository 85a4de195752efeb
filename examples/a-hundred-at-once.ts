// Runs a hundred conversations at once in one process and reads their answers from one event stream.
import { ConversationManager } from "cody";

const count = 100;
const cody = new ConversationManager({ env: process.env, config: { provider: "offline" } });
const events = cody.events();

const numbers = new Map<string, number>();
for (let number = 1; number <= count; number += 1) {
  const { conversation, conversationId } = await cody.newConversation();
  numbers.set(conversationId, number);
  await conversation.submit(`What is ${number} * ${number}?`);
}

const answers = new Map<number, string>();
for await (const { conversation_id: id, msg } of events) {
  if (msg.type !== "task_complete") continue;
  answers.set(numbers.get(id) ?? 0, msg.last_agent_message ?? "no answer");
  if (answers.size === count) break;
}

for (const number of [1, 10, 100]) console.log(answers.get(number));
console.log(`${answers.size} answers`);
await cody.shutdown();
