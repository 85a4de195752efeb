// A child process that answers every request with the same Responses stream, as fast as it is read.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const deltas = Number(process.argv[2]);
const event = (value: { type: string; [key: string]: unknown }): string =>
  `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`;
const place = { item_id: "msg_1", output_index: 0, content_index: 0 };
const pieces = Array.from({ length: deltas }, (_, sequence_number) =>
  event({ type: "response.output_text.delta", ...place, delta: `word ${sequence_number} `, sequence_number }),
);
const last = event({ type: "response.completed", response: { id: "resp_1", output: [], usage: {} } });

const server = createServer((request, response) => {
  request.resume();
  request.on("end", () => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const piece of pieces) response.write(piece);
    response.end(last);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
process.on("disconnect", () => process.exit());
