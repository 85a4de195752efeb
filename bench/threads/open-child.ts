// Opens conversations at once in a process of its own and prints the time and CPU time that it took.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { ConversationManager } from "../support/built-package.js";

const [home = "", count = "", kind = "", persistence = ""] = process.argv.slice(2);
const ids = readdirSync(join(home, "conversations"))
  .filter((name) => name.endsWith(".jsonl"))
  .map((name) => name.slice(0, -".jsonl".length));
const manager = new ConversationManager({
  home,
  config: { provider: "offline", persistence: { enabled: persistence === "on" } },
});
// Starts the threads.
await open(0);
const [begin, before] = [performance.now(), process.cpuUsage()];
await Promise.all(Array.from({ length: Number(count) }, (_, index) => open(index + 1)));
const [ms, { user, system }] = [performance.now() - begin, process.cpuUsage(before)];
console.log(JSON.stringify({ ms, cpuMs: (user + system) / 1000 }));
await manager.shutdown();

async function open(index: number): Promise<void> {
  if (kind === "resume") await manager.resumeConversation(ids[index] ?? "");
  else await manager.newConversation();
}
