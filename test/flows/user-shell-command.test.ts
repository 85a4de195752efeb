import { expect, test } from "vitest";
import { EventLog, openManager } from "../support/open-conversation.js";
import { says, scripted } from "../support/scripted-provider.js";

const settings = { approvalPolicy: "never", sandbox: "danger-full-access" } as const;

async function open(approvals: { readonly approvalPolicy?: "untrusted" } = {}) {
  const provider = scripted([says("It said hi.")]);
  const { manager } = await openManager({ providers: [provider], config: { provider: "scripted", model: "scripted" } });
  const { conversation } = await manager.newConversation({ ...settings, ...approvals });
  return { provider, conversation, log: new EventLog(conversation) };
}

test("a command of the user runs without a model, which sees it with the next message", async () => {
  const { provider, conversation, log } = await open();
  await conversation.submit({ type: "run_user_shell_command", command: "echo hi; echo no >&2; exit 3" });
  expect(await log.until("exec_command_end")).toMatchObject({ stdout: "hi\n", stderr: "no\n", exit_code: 3 });
  expect(await log.until("task_complete")).toMatchObject({ last_agent_message: null });
  expect(provider.requests).toEqual([]);
  await conversation.processMessage("what did it say?");
  const seen = provider.requests[0]?.input.slice(-4);
  expect(seen).toMatchObject([
    { type: "message", role: "user", content: [{ text: "!echo hi; echo no >&2; exit 3" }] },
    { type: "function_call", name: "shell" },
    { type: "function_call_output" },
    { type: "message", role: "user", content: [{ text: "what did it say?" }] },
  ]);
  expect(JSON.stringify(seen?.[2])).toContain("hi");
});

test("a command of the user needs the same approval as one of the model", async () => {
  const { conversation, log } = await open({ approvalPolicy: "untrusted" });
  await conversation.submit({ type: "run_user_shell_command", command: "touch here" });
  const { approval_id: id, command } = await log.until("exec_approval_request");
  expect(command).toEqual(["sh", "-c", "touch here"]);
  await conversation.submit({ type: "exec_approval", approval_id: id, decision: "denied" });
  await log.until("task_complete");
  expect(log.types()).not.toContain("exec_command_begin");
});

test("a running command of the user is interrupted", async () => {
  const { conversation, log } = await open();
  await conversation.submit({ type: "run_user_shell_command", command: "echo begun; exec sleep 600" });
  await log.until("exec_command_output_delta");
  await conversation.interrupt();
  expect(await log.until("turn_aborted")).toMatchObject({ reason: "interrupted" });
});

test("an empty command is refused", async () => {
  const { conversation, log } = await open();
  await conversation.submit({ type: "run_user_shell_command", command: " " });
  expect(await log.until("error")).toMatchObject({ message: "the command is empty" });
});
