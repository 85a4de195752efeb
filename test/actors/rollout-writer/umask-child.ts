import { appendFileSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { openOwnerSocket } from "../../../src/actors/rollout-writer/rollout-locks.js";
import { RolloutWriter, threadFileSystem } from "../../../src/actors/rollout-writer/rollout-writer.js";
import { runtimeDirectory } from "../../../src/rollouts/file/runtime-directory.js";

// Writes, tears and repairs a rollout under a given umask, and prints the mode of each file.
const [, , directory = "", umask = ""] = process.argv;
const base = join(directory, "run");
mkdirSync(base);
process.umask(Number.parseInt(umask, 8));
const socket = await openOwnerSocket(await runtimeDirectory({ XDG_RUNTIME_DIR: base }));
const writer = new RolloutWriter(threadFileSystem);
const session = writer.connect(() => undefined);
const path = join(directory, "one", "two", "a.jsonl");
const order = { type: "open", conversationId: "a", path, owner: socket.owner } as const;
await session.handle({ ...order, mode: "create" });
await session.handle({ type: "append", conversationId: "a", lines: [`{"type":"line"}\n`], sync: true });
await session.handle({ type: "close", conversationId: "a" });
appendFileSync(path, "torn");
await session.handle({ ...order, mode: "append" });
const names = readdirSync(directory, { recursive: true, encoding: "utf8" });
const modes = names
  .filter((name) => name !== "run" && !name.endsWith(".sock"))
  .map((name) => [name, (statSync(join(directory, name)).mode & 0o777).toString(8)]);
process.stdout.write(`${JSON.stringify(Object.fromEntries(modes))}\n`);
await writer.stop();
await socket.close();
