// A child process of the benchmarks `scale` and `turns`: the server, one of the clients, or a client with shards.
import { bareClient } from "../scale/bare-client.js";
import { type Load, measured, type OpenClient } from "../scale/load.js";
import { codyClient, unsavedClient } from "../scale/cody-client.js";
import { playInThreads, type ThreadLoad } from "../scale/thread-load.js";
import { startMockLlm } from "../support/built-testing.js";
import { temporaryDirectory } from "../support/temporary-directory.js";

/** Enough rounds for V8 to compile hot functions, and again for the object shapes of a second manager. */
const warmUp = { rounds: 3, conversations: 50, turns: 8 };

const [what, text] = process.argv.slice(2);
const clients: Readonly<Record<string, OpenClient>> = { bare: bareClient, cody: codyClient, unsaved: unsavedClient };
const client = clients[what ?? ""];
if (client !== undefined) await play(client, JSON.parse(text ?? "") as Load);
else if (what === "server") await serve(Number(text));
else await playThreads(JSON.parse(text ?? "") as ThreadLoad);

/** Starts one server for each delay. */
async function serve(deltas: number): Promise<void> {
  const urls: Record<number, string> = {};
  for (const delayMs of [0, 10, 30]) {
    const pace = delayMs === 0 ? {} : { delayMs };
    const script = { replies: [{ deltas, ...pace }], afterLast: "repeat" as const };
    urls[delayMs] = `${(await startMockLlm({ script })).url}/v1`;
  }
  process.send?.(urls);
}

async function play(open: OpenClient, load: Load): Promise<void> {
  await using directory = await temporaryDirectory();
  // Warm up, so that loading and compiling code is not counted for each conversation.
  const { rounds, ...size } = warmUp;
  for (let round = 0; round < (load.isWarm ? rounds : 0); round += 1) {
    const opened = await open(
      { ...load, ...size, delayMs: 0, ...(load.warmUpUrl && { url: load.warmUpUrl }) },
      directory.path,
    );
    await opened.play();
    await opened.close();
  }
  await using measuredDirectory = await temporaryDirectory();
  process.send?.(await measured(() => open(load, measuredDirectory.path)));
  process.disconnect();
}

async function playThreads(load: ThreadLoad): Promise<void> {
  await using directory = await temporaryDirectory();
  process.send?.(await playInThreads(load, directory.path));
  process.disconnect();
}
