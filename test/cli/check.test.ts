import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Cli } from "../support/cli.js";

test("check prints what would be sent over each wire API", async () => {
  const cli = await Cli.open();
  const id = (await cli.run(["new"])).stdout.trim();
  await cli.run(["chat", "hello"]);
  const payload = { type: "function_call", name: "shell", arguments: "{}", call_id: "1" };
  const line = { timestamp: new Date().toISOString(), type: "response_item", payload };
  await appendFile(join(cli.conversations, `${id}.jsonl`), `${JSON.stringify(line)}\n`);
  expect(await cli.run(["check", id, "--wire", "chat"])).toMatchObject({
    code: 0,
    stdout: `${id}: 3 item(s), for offline\n\nchat: 4 item(s) sent\n  function_call_output: 1 added\n`,
  });
  const { wires } = JSON.parse((await cli.run(["check", id, "--json"])).stdout) as { wires: { api: string }[] };
  expect(wires.map(({ api }) => api)).toEqual(["responses", "chat", "messages"]);
  expect(await cli.run(["check", id, "--wire", "soap"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("--wire: expected responses, chat, messages, not 'soap'"),
  });
});
