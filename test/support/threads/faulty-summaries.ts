import { text } from "node:stream/consumers";
import { getHeapSnapshot } from "node:v8";
import type { IoJobs } from "../../../src/workers/io-pool.js";
import { serveJobs } from "../../../src/workers/jobs.js";
import { summaryJobs } from "../../../src/workers/summary-job.js";

const jobs = summaryJobs();

/** The real pool threads, except for model names that make the thread die or search its memory. */
export default serveJobs<IoJobs>({
  ...jobs,
  summarize: async (input, signal) => {
    const { request } = input;
    if ("source" in request) return await jobs.summarize(input, signal);
    switch (request.model) {
      case "exit":
        return process.exit(7);
      case "uncaught":
        setImmediate(() => {
          throw new Error(`nobody catches ${JSON.stringify(input.target)}`);
        });
        return await new Promise<never>(() => undefined);
      case "remember":
        return { status: "done", text: await remembered(request.prompt), truncatedCount: 0, usage: undefined };
      default:
        return await jobs.summarize(input, signal);
    }
  },
});

/**
 * Which of these texts are in the thread's memory. They are passed in hexadecimal, so that the request itself does not
 * put them there.
 */
async function remembered(lines: string): Promise<string> {
  const memory = await text(getHeapSnapshot());
  const asked = lines.split("\n").map((line) => Buffer.from(line, "hex").toString());
  return asked.filter((line) => memory.includes(line)).join("\n");
}
