// One process of the benchmark `scale`: the server, or one of the two clients.
import { floor } from "../scale/bare-client.js";
import { type Load, measured, type OpenClient } from "../scale/load.js";
import { product } from "../scale/cody-client.js";
import { startMockLlm } from "../support/built-testing.js";
import { temporaryDirectory } from "../support/temporary-directory.js";

/** A function is compiled when it was called often enough, and once more when a second manager shows it other objects. */
const warmUp = { rounds: 3, conversations: 50, turns: 8 };

const [what, text] = process.argv.slice(2);
if (what === "server") await serve();
else await play(what === "floor" ? floor : product, JSON.parse(text ?? "") as Load);

/** One server for each pace. */
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
  // What is loaded and compiled once must not count for each conversation.
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
