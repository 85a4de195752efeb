import { type IoJobs, type SummaryTarget, ioPoolLimits, summarizeInThread } from "../../../src/workers/io-pool.js";
import { Pool } from "../../../src/workers/pool.js";

// A process that has requested a summary: a kept-alive connection must not keep the process running.
const [work, baseUrl] = process.argv.slice(2);
const pool = new Pool<IoJobs>({
  ...ioPoolLimits,
  idleMs: 600_000,
  entry: new URL("faulty-summaries.js", import.meta.url),
});
const target: SummaryTarget = { kind: "wire", provider: "mock", api: "chat", baseUrl, credential: undefined, env: {} };
const request = {
  conversationId: "c",
  model: "mock-1",
  instructions: "",
  items: [],
  prompt: "Summarize",
  maxBytes: 10_000,
};
const { signal } = new AbortController();

console.log((await summarizeInThread(pool, target, request, signal)).status);
if (work === "closed") {
  await pool.close();
  console.log((await summarizeInThread(pool, target, request, signal)).status);
}
