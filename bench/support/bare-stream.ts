import { Agent, request } from "node:http";

const agent = new Agent({ keepAlive: true, maxSockets: 1_000 });

/** The least a client can do: keep-alive HTTP, a split at empty lines, JSON.parse. Gives the deltas it saw. */
export function bareDeltas(url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const asked = request(`${url}/responses`, { method: "POST", agent }, (response) => {
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
    asked.on("error", reject);
    asked.end("{}");
  });
}
