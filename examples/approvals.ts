// Answers approval requests in code: a request is an event, and the decision is a submission.
import { ConversationManager } from "cody";

const allowed = new Set(["echo hello"]);
const cody = new ConversationManager({ env: process.env, config: { provider: "offline" } });
const { conversation } = await cody.newConversation();

for (const request of ["run echo hello", "run rm -rf build"]) {
  await conversation.submit(request);
  for await (const { msg } of conversation.events()) {
    if (msg.type === "exec_approval_request") {
      // `command` is exactly what will run; `approval_id` identifies the request that is answered.
      const command = msg.command.at(-1) ?? "";
      const decision = allowed.has(command) ? "approved" : { denied: { rejection: "not in the list" } };
      console.log(`${command}: ${typeof decision === "string" ? decision : "denied"}`);
      await conversation.submit({ type: "exec_approval", id: msg.approval_id, decision });
    }
    if (msg.type === "exec_command_end") console.log(`it printed ${msg.stdout.trim()}`);
    if (msg.type === "task_complete" || msg.type === "turn_aborted") break;
  }
}
await cody.shutdown();
