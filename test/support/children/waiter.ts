import { ConversationManager } from "../../../src/manager.js";

// Waits for nothing but the events of a conversation in a thread: a process that nothing else keeps alive must not end
// before they have come.
const home = process.argv[2] ?? "";
const manager = new ConversationManager({
  home,
  cwd: home,
  env: { XDG_RUNTIME_DIR: home },
  threads: 1,
  config: { provider: "offline" },
});
const { conversation } = await manager.newConversation();
// So many that an actor of the thread has to let other work go first.
for (let turn = 0; turn < 50; turn += 1) await waitFor(await conversation.submit("hello"), "task_complete");
await waitFor(await conversation.submit({ type: "compact" }), "compaction_end");
await waitFor(await conversation.submit({ type: "list_mcp_tools" }), "mcp_list_tools_response");
await manager.shutdown();
process.stdout.write("all events came\n");

async function waitFor(id: string, type: string): Promise<void> {
  for await (const event of conversation.events()) if (event.id === id && event.msg.type === type) return;
}
