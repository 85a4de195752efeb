// A child process that does the least a turn needs: it reads and parses a rollout, if it is given one, sends one request,
// prints the answer and appends it durably.
import { closeSync, existsSync, fdatasyncSync, openSync, writeSync } from "node:fs";
import { request } from "node:http";
import { readBare } from "../resume/read-bare.js";

const [url = "", path = ""] = process.argv.slice(2);
if (existsSync(path)) readBare(path);
const rollout = openSync(path, "a");
const headers = { "content-type": "application/json", authorization: "Bearer test" };
const sent = request(`${url}/v1/responses`, { method: "POST", headers });
sent.end(JSON.stringify({ model: "gpt-5", input: "What is 2+2?", stream: true }));
sent.on("response", (response) => {
  let text = "";
  response.setEncoding("utf8");
  response.on("data", (chunk: string) => (text += chunk));
  response.on("end", () => {
    const events = text.split("\n").filter((line) => line.startsWith("data: {"));
    const deltas = events.map(
      (line) => (JSON.parse(line.slice("data: ".length)) as { readonly delta?: unknown }).delta,
    );
    const answer = deltas.filter((delta) => typeof delta === "string").join("");
    writeSync(rollout, `${JSON.stringify({ answer })}\n`);
    fdatasyncSync(rollout);
    closeSync(rollout);
    process.stdout.write(answer);
  });
});
