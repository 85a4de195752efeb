// A small MCP server that misbehaves as its arguments say: `node server.mjs [--http] [trait ...]`. Messages it receives
// are appended to the file $HEARD, one per line.
import { spawn } from "node:child_process";
import { appendFileSync, existsSync } from "node:fs";
import { createServer } from "node:http";
import { createInterface } from "node:readline";

const traits = new Set(process.argv.slice(2));
let description = "Says it again";
let elicitations = 0;
/** The headers of the last request over HTTP. */
let headers = {};
/** Resolvers of pending requests to the client, by id. */
const waiting = new Map();

const text = (value) => ({ content: [{ type: "text", text: value }] });
const object = (properties = {}) => ({ type: "object", properties });

const tools = {
  echo: ({ text: said }) => text(`echo: ${said}`),
  env: () => text(JSON.stringify(process.env)),
  secrets: () => ({
    content: [
      { type: "text", text: `key ${process.env.API_KEY}, ${btoa(process.env.API_KEY)}, ${process.argv.join(" ")}` },
      { type: "resource", resource: { uri: "x://1", text: `${headers.authorization} ${headers["x-key"]}` } },
    ],
    structuredContent: { [process.env.API_KEY]: [process.env.API_KEY] },
  }),
  pid: () => text(String(process.pid)),
  // Never answers.
  wait: () => new Promise(() => {}),
  die: () => process.exit(3),
  fail: () => ({ ...text("it went wrong"), isError: true }),
  picture: () => ({ content: [{ type: "image", mimeType: "image/png", data: "A".repeat(4_000_000) }] }),
  // Returns the content given in its arguments.
  content: ({ content }) => ({ content }),
  structured: () => ({ content: [], structuredContent: { degrees: 21 } }),
  huge: ({ bytes }) => text("x".repeat(bytes)),
  nothing: () => 42,
  // Starts a process outside its process group and session that shares no streams.
  stray: () => {
    const child = spawn("sleep", ["1000"], { detached: true, stdio: "ignore" });
    child.unref();
    return text(String(child.pid));
  },
  change: (_, send) => {
    description = "Says it again, and tells others";
    send({ method: "notifications/tools/list_changed" });
    return text("changed");
  },
  ask: async ({ required = [] }, send) => {
    const id = `ask-${(elicitations += 1)}`;
    const requestedSchema = {
      ...object({ sure: { type: "boolean" }, name: { type: "string" }, size: { type: "string", default: "small" } }),
      required,
    };
    send({ id, method: "elicitation/create", params: { message: "May I go on?", requestedSchema } });
    const answer = await new Promise((resolve) => waiting.set(id, resolve));
    return text(JSON.stringify(answer));
  },
};

function listed() {
  const known = Object.keys(tools).map((name) => ({ name, description, inputSchema: object({ text: {} }) }));
  if (traits.has("odd-tools")) {
    known.push(
      { name: "with spaces & more", description: "odd", inputSchema: object() },
      { name: "with spaces   more", description: "odd", inputSchema: object() },
      { name: "x".repeat(200), inputSchema: object() },
      { name: "echo", description: "another", inputSchema: object() },
      { name: "no-object", inputSchema: { type: "string" } },
      { name: "no-schema" },
      { name: "choice", inputSchema: { ...object(), anyOf: [{}], $schema: "http://json-schema.org/draft-07/schema#" } },
      { name: "bad-key", inputSchema: object({ "a b": {} }) },
      { name: "long", description: "d".repeat(100_000), inputSchema: object() },
      null,
      7,
    );
  }
  if (traits.has("many-tools")) {
    for (let index = 0; index < 5_000; index += 1) known.push({ name: `tool-${index}`, inputSchema: object() });
  }
  return known;
}

async function answerTo({ method, params = {} }, send) {
  switch (method) {
    case "initialize":
      if (traits.has("silent")) await new Promise(() => {});
      return {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: { listChanged: true }, resources: {}, prompts: {} },
        serverInfo: { name: "test", version: "1" },
      };
    case "tools/list":
      if (traits.has("silent-list")) await new Promise(() => {});
      // Endless pages.
      if (traits.has("pages")) {
        const page = Number(params.cursor ?? 0);
        const names = Array.from({ length: 60 }, (_, index) => `${page}-${index}`);
        return { tools: names.map((name) => ({ name, inputSchema: object() })), nextCursor: String(page + 1) };
      }
      return { tools: listed() };
    case "tools/call":
      if (traits.has("leaks")) throw new Error(`nobody takes ${process.env.API_KEY}`);
      return await tools[params.name](params.arguments ?? {}, send);
    case "resources/list":
      return { resources: [{ uri: "test://one", name: "one" }] };
    case "resources/templates/list":
      return { resourceTemplates: [{ uriTemplate: "test://{name}", name: "any" }] };
    case "resources/read":
      return { contents: [{ uri: params.uri, text: `what is in ${params.uri}` }] };
    case "prompts/list":
      return {
        prompts: [
          { name: "greet", description: "Greets", arguments: [{ name: "who", required: true }, { name: "how" }] },
        ],
      };
    case "prompts/get": {
      const { who, how = "as ever" } = params.arguments ?? {};
      return { messages: [{ role: "user", content: { type: "text", text: `Greet ${who} ${how}` } }] };
    }
    default:
      throw Object.assign(new Error(`no ${method}`), { code: -32_601 });
  }
}

async function hear(message, send) {
  if (process.env.HEARD) appendFileSync(process.env.HEARD, `${JSON.stringify(message)}\n`);
  if (message.method === undefined) return waiting.get(message.id)?.(message.result ?? message.error);
  if (message.id === undefined) return undefined;
  try {
    const result = await answerTo(message, send);
    if (traits.has("wrong-ids")) send({ id: message.id + 1_000, result: text("of another call") });
    if (traits.has("brackets") && message.method === "tools/call") return send(brackets(message.id));
    if (traits.has("deep") && message.method === "tools/call") return send(deep(message.id));
    send({ id: message.id, result });
    if (traits.has("doubled")) send({ id: message.id, result: text("once more") });
  } catch (error) {
    send({ id: message.id, error: { code: error.code ?? -32_603, message: error.message } });
  }
  return undefined;
}

const deep = (id) => `{"jsonrpc":"2.0","id":${id},"result":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
const brackets = (id) => `{"jsonrpc":"2.0","id":${id},"result":{"content":[${"[],".repeat(500_000)}[]]}}`;

function write(message) {
  const line = typeof message === "string" ? message : JSON.stringify({ jsonrpc: "2.0", ...message });
  return process.stdout.write(`${line}\n`);
}

function serveStdio() {
  if (traits.has("leaks")) console.error(`my key is ${process.env.API_KEY}`);
  // With $ONCE, crash only the first time; the file records that.
  const once = process.env.ONCE;
  if (traits.has("crash") && (once === undefined || !existsSync(once))) {
    if (once !== undefined) appendFileSync(once, "");
    console.error("I cannot go on");
    process.exit(4);
  }
  if (traits.has("chatty")) process.stdout.write("hello\n{not json\n[]\n\u0000\n");
  if (traits.has("complains")) process.stderr.write(`${"it is so hard ".repeat(1_000_000)}\n`);
  if (traits.has("stubborn")) for (const name of ["SIGTERM", "SIGINT"]) process.on(name, () => {});
  if (traits.has("flood") || traits.has("changing")) {
    const news = traits.has("flood")
      ? { method: "notifications/message", params: { level: "info", data: "x".repeat(1_000) } }
      : { method: "notifications/tools/list_changed" };
    const flood = () => {
      while (write(news)) {}
      process.stdout.once("drain", flood);
    };
    flood();
  }
  if (traits.has("endless-line")) {
    const flood = () => {
      while (process.stdout.write("x".repeat(65_536))) {}
      process.stdout.once("drain", flood);
    };
    flood();
  }
  const lines = createInterface({ input: process.stdin });
  lines.on("line", (line) => void hear(JSON.parse(line), write));
  lines.on("close", () => traits.has("stubborn") || process.exit(0));
  if (traits.has("stubborn")) setInterval(() => {}, 1_000);
}

function serveHttp() {
  let session = 0;
  const server = createServer(async (request, response) => {
    if (process.env.HEARD) appendFileSync(process.env.HEARD, `${JSON.stringify({ headers: request.headers })}\n`);
    if (traits.has("redirect")) {
      response.writeHead(307, { location: `http://localhost:${server.address().port}/elsewhere` }).end();
      return;
    }
    if (traits.has("refuses")) {
      response.writeHead(400).end(`unknown: ${request.headers.authorization?.split(" ")[1]}`);
      return;
    }
    if (request.method !== "POST") {
      response.writeHead(request.method === "DELETE" ? 200 : 405).end();
      return;
    }
    headers = request.headers;
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const message = JSON.parse(Buffer.concat(chunks).toString());
    if (message.method === "initialize") session += 1;
    else if (request.headers["mcp-session-id"] !== `session-${session}`) {
      response.writeHead(404).end();
      return;
    }
    const given = { "mcp-session-id": `session-${session}` };
    if (message.id === undefined || message.method === undefined) {
      await hear(message, () => {});
      response.writeHead(202, given).end();
      return;
    }
    if (message.params?.name === "forget") session += 1;
    response.writeHead(200, { ...given, "content-type": "text/event-stream" });
    const send = (sent) => {
      const data = typeof sent === "string" ? sent : JSON.stringify({ jsonrpc: "2.0", ...sent });
      response.write(`data: ${data}\n\n`);
      if (sent.id === message.id) response.end();
    };
    if (traits.has("flood") && message.method === "tools/call") {
      const flood = () => {
        while (response.write('data: {"jsonrpc":"2.0","method":"notifications/message"}\n\n')) {}
        response.once("drain", flood);
      };
      flood();
    }
    await hear(message, send);
  });
  server.listen(0, "127.0.0.1", () => console.log(server.address().port));
  process.stdin.on("end", () => process.exit(0)).resume();
}

if (traits.has("--http")) serveHttp();
else serveStdio();
