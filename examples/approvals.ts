// Approvals answered by code: a request comes as an event, and its answer is a submission.
import { ConversationManager } from "cody";

const allowed = new Set(["echo hello"]);
const cody = new ConversationManager({ env: process.env, config: { provider: "offline" } });
const { conversation } = await cody.newConversation();

for (const request of ["run echo hello", "run rm -rf build"]) {
  await conversation.submit(request);
  for await (const { msg } of conversation.events()) {
    if (msg.type === "exec_approval_request") {
      // The command exactly as it will run; the id is what proves that you were asked.
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
