// Imports the built package and, if it gets a limit, prints how long the first list of this process takes.
import { ConversationManager } from "../support/built-package.js";

const [home = "", limit] = process.argv.slice(2);
if (limit !== undefined) {
  const begin = performance.now();
  const manager = new ConversationManager({ home, config: { provider: "offline" } });
  const page = await manager.listConversations({ limit: Number(limit) });
  console.log(performance.now() - begin);
  if (page.length !== Number(limit)) throw new Error(`${page.length} conversations`);
  await manager.shutdown();
}
