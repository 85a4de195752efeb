// A child process that answers every request with the same short Responses stream: a text, or with `rounds` one tool
// call for each request but the last of a turn.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const rounds = Number(process.argv[2]);
const event = (value: { type: string; [key: string]: unknown }): string =>
  `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`;
const usage = { input_tokens: 1_000, output_tokens: 10, total_tokens: 1_010 };
const completed = event({ type: "response.completed", response: { id: "resp", output: [], usage } });
let requests = 0;

const server = createServer((request, response) => {
  request.resume();
  request.on("end", () => {
    requests += 1;
    response.writeHead(200, { "content-type": "text/event-stream" });
    const isCall = rounds > 0 && requests % (rounds + 1) !== 0;
    response.end((isCall ? callOf(requests) : text()) + completed);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
process.on("disconnect", () => process.exit());

function text(): string {
  const place = { item_id: `msg_${requests}`, output_index: 0 };
  const content = [{ type: "output_text", text: "An answer of a few words." }];
  const item = { id: place.item_id, type: "message", role: "assistant", status: "completed", content };
  return (
    event({ type: "response.output_text.delta", ...place, delta: "An answer of a few words." }) +
    event({ type: "response.output_item.done", output_index: 0, item })
  );
}

function callOf(number: number): string {
  const call = { type: "function_call", name: "measure", arguments: JSON.stringify({ number }) };
  const item = { id: `fc_${number}`, ...call, call_id: `call_${number}`, status: "completed" };
  return event({ type: "response.output_item.done", output_index: 0, item });
}
