import { appendFile } from "node:fs/promises";
import { Agent, type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import type { Client, Load } from "./load.js";

/** The minimum of a client: keep-alive HTTP, splitting events, JSON.parse, one JSONL append per turn. */
export async function bareClient(load: Load, directory: string): Promise<Client> {
  const agent = new Agent({ keepAlive: true, maxSockets: load.conversations });
  const talk = async (index: number, onFirstDelta?: (ms: number) => void): Promise<void> => {
    const input: object[] = [];
    for (let turn = 0; turn < load.turns; turn += 1) {
      input.push({ type: "message", role: "user", content: [{ type: "input_text", text: "go on" }] });
      const { text, deltas } = await answer(load, agent, input, onFirstDelta);
      if (deltas !== load.deltas) throw new Error(`${deltas} deltas instead of ${load.deltas}`);
      const item = { type: "message", role: "assistant", content: [{ type: "output_text", text }] };
      input.push(item);
      await appendFile(join(directory, `${index}.jsonl`), `${JSON.stringify(item)}\n`);
    }
  };
  return {
    play: async (onFirstDelta) => {
      await Promise.all(Array.from({ length: load.conversations }, (_, index) => talk(index, onFirstDelta)));
    },
    close: async () => agent.destroy(),
  };
}

async function answer(
  { url }: Load,
  agent: Agent,
  input: readonly object[],
  onFirstDelta?: (ms: number) => void,
): Promise<{ text: string; deltas: number }> {
  const begin = performance.now();
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const headers = { "content-type": "application/json", authorization: "Bearer key" };
    const sent = request(`${url}/responses`, { method: "POST", agent, headers }, resolve);
    sent.on("error", reject);
    sent.end(JSON.stringify({ model: "gpt-5", input, stream: true, store: false }));
  });
  if (response.statusCode !== 200) throw new Error(`status ${response.statusCode}`);
  let rest = "";
  let text = "";
  let deltas = 0;
  response.setEncoding("utf8");
  for await (const chunk of response as AsyncIterable<string>) {
    const events = (rest + chunk).split("\n\n");
    rest = events.pop() ?? "";
    for (const event of events) {
      const at = event.indexOf("data: ");
      if (at < 0) continue;
      const data = JSON.parse(event.slice(at + "data: ".length)) as { type: string; delta?: string };
      if (data.type !== "response.output_text.delta") continue;
      if (deltas === 0) onFirstDelta?.(performance.now() - begin);
      text += data.delta ?? "";
      deltas += 1;
    }
  }
  return { text, deltas };
}
