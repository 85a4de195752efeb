// A child process of the benchmark `scale`: the server, one of the two clients, or a client with shards.
import { bareClient } from "../scale/bare-client.js";
import { type Load, measured, type OpenClient } from "../scale/load.js";
import { codyClient } from "../scale/cody-client.js";
import { playInThreads, type ThreadLoad } from "../scale/thread-load.js";
import { startMockLlm } from "../support/built-testing.js";
import { temporaryDirectory } from "../support/temporary-directory.js";

/** Enough rounds for V8 to compile hot functions, and again for the object shapes of a second manager. */
const warmUp = { rounds: 3, conversations: 50, turns: 8 };

const [what, text] = process.argv.slice(2);
if (what === "server") await serve();
else if (what === "threads") await playThreads(JSON.parse(text ?? "") as ThreadLoad);
else await play(what === "bare" ? bareClient : codyClient, JSON.parse(text ?? "") as Load);

/** Starts one server for each delay. */
async function serve(): Promise<void> {
  const urls: Record<number, string> = {};
  for (const delayMs of [0, 10, 30]) {
    const pace = delayMs === 0 ? {} : { delayMs };
    const script = { replies: [{ deltas: 200, ...pace }], afterLast: "repeat" as const };
    urls[delayMs] = `${(await startMockLlm({ script })).url}/v1`;
  }
  process.send?.(urls);
}

async function play(open: OpenClient, load: Load): Promise<void> {
  await using directory = await temporaryDirectory();
  // Warm up, so that loading and compiling code is not counted for each conversation.
  const { rounds, ...size } = warmUp;
  for (let round = 0; round < rounds; round += 1) {
    const client = await open({ ...load, ...size, delayMs: 0, url: load.warmUpUrl }, directory.path);
    await client.play();
    await client.close();
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
