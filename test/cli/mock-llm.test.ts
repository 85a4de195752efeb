import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Child, Cli, finished, saysOn } from "../support/cli.js";
import { hello, post } from "../support/open-mock-llm.js";

interface Running {
  readonly child: Child;
  readonly url: string;
}

async function start(cli: Cli, ...args: string[]): Promise<Running> {
  const child = cli.start(["mock-llm", ...args]);
  await saysOn(child.stdout, "ANTHROPIC_API_KEY");
  const firstOutput = String(child.stdout.read());
  child.stdout.unshift(Buffer.from(firstOutput));
  return { child, url: /http:\/\/127\.0\.0\.1:\d+/.exec(firstOutput)?.[0] ?? "" };
}

test("mock-llm prints its address and each request, and ends with Ctrl-C", async () => {
  const cli = await Cli.open();
  const { child, url } = await start(cli);
  expect((await post({ url }, "responses", hello("responses"))).status).toBe(200);
  expect((await post({ url }, "chat", { model: "m" })).status).toBe(400);
  child.kill("SIGINT");
  expect(await finished(child)).toEqual({
    code: 130,
    signal: null,
    stderr: "",
    stdout: [
      `Listening on ${url}. Press Ctrl-C to stop.`,
      `  export OPENAI_BASE_URL=${url}/v1`,
      "  export OPENAI_API_KEY=mock",
      `  export ANTHROPIC_BASE_URL=${url}`,
      "  export ANTHROPIC_API_KEY=mock",
      "200 POST /v1/responses",
      "400 POST /v1/chat/completions Missing required parameter: 'messages'.",
      "",
    ].join("\n"),
  });
});

test("a running stream does not keep mock-llm from ending", async () => {
  const cli = await Cli.open();
  await writeFile(join(cli.project, "script.json"), JSON.stringify([{ fault: { type: "stall", afterBytes: 10 } }]));
  const { child, url } = await start(cli, "--script", "script.json");
  const response = await post({ url }, "messages", { ...hello("messages"), stream: true });
  child.kill("SIGTERM");
  expect(await finished(child)).toMatchObject({ code: 143, stderr: "" });
  await expect(response.text()).rejects.toThrow("terminated");
});

test("mock-llm plays a script, leniently on request, and logs bodies without keys", async () => {
  const cli = await Cli.open();
  const replies = [{ text: "from the script" }, { fault: { type: "status", status: 529 } }];
  await writeFile(join(cli.project, "script.json"), JSON.stringify({ replies, afterLast: "offline" }));
  const { child, url } = await start(cli, "--script", "script.json", "--no-strict", "--log", "log.jsonl", "--json");
  const first = await post({ url }, "messages", { odd: true }, { "x-api-key": "sk-secret" });
  expect(await first.json()).toMatchObject({ content: [{ type: "text", text: "from the script" }] });
  expect((await post({ url }, "messages", {})).status).toBe(529);
  child.kill("SIGINT");
  const { stdout } = await finished(child);
  const lines = stdout.trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { url },
    { status: 200 },
    { status: 529, fault: "status" },
  ]);
  const file = join(cli.project, "log.jsonl");
  const log = await readFile(file, "utf8");
  expect(log).not.toContain("sk-secret");
  expect(
    log
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line)),
  ).toMatchObject([
    { number: 1, api: "messages", body: { odd: true }, status: 200 },
    { number: 2, body: {}, status: 529 },
  ]);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

test.each([
  ["--port", "70000", "--port: expected a number from 0 to 65535, not '70000'"],
  ["--script", "none.json", "none.json: cannot read the file: it does not exist"],
  ["--script", ".", "cannot read the file: it is a folder"],
  ["--log", "none/log.jsonl", "log.jsonl: cannot write the file: it does not exist"],
  ["--script", "broken.json", "broken.json: invalid JSON"],
  ["--script", "wrong.json", 'wrong.json: replies.0: unknown key "txt"'],
])("%s %s is a usage error with its reason", async (flag, value, text) => {
  const cli = await Cli.open();
  await writeFile(join(cli.project, "broken.json"), "{");
  await writeFile(join(cli.project, "wrong.json"), '[{"txt": "a"}]');
  const { code, stderr } = await cli.run(["mock-llm", flag, value]);
  expect({ code, stderr }).toEqual({ code: expect.toBeOneOf([1, 2]), stderr: expect.stringContaining(text) });
});

test("mock-llm reports that its port is in use", async () => {
  const cli = await Cli.open();
  const { url } = await start(cli);
  const { port } = new URL(url);
  const { code, stderr } = await cli.run(["mock-llm", "--port", port]);
  const text = `✗ --port ${port}: cannot listen on this port: the address is in use\n  To use any free port, omit --port\n`;
  expect({ code, stderr }).toEqual({ code: 1, stderr: text });
});
