import { Agent, request } from "node:http";

const agent = new Agent({ keepAlive: true, maxSockets: 1_000 });

/** The minimum of a client: keep-alive HTTP, a split at empty lines, JSON.parse. Returns the number of deltas. */
export function bareDeltas(url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/responses`, { method: "POST", agent }, (response) => {
      let rest = "";
      let count = 0;
      response.setEncoding("utf8");
      response.on("error", reject);
      response.on("data", (chunk: string) => {
        const events = (rest + chunk).split("\n\n");
        rest = events.pop() ?? "";
        for (const event of events) {
          const value = JSON.parse(event.slice(event.indexOf("data: ") + 6)) as { delta?: string };
          if (value.delta !== undefined) count += 1;
        }
      });
      response.on("end", () => resolve(count));
    });
    sent.on("error", reject);
    sent.end("{}");
  });
}
