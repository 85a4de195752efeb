import { expect, test } from "vitest";
import { Cli } from "../support/cli.js";

test("show prints the active or the named conversation as Markdown, and with --json as data", async () => {
  const cli = await Cli.open();
  await cli.run(["chat", "--name", "sums", "What is 2+2?"]);
  const { code, stdout } = await cli.run(["conversation", "show"]);
  expect(code).toBe(0);
  expect(stdout).toContain("What is 2+2?");
  expect(await cli.run(["show", "sums"])).toMatchObject({ code: 0, stdout });
  const data = await cli.run(["show", "sums", "--json"]);
  expect(JSON.parse(data.stdout)).toMatchObject({ history: expect.anything() });
  expect(await cli.run(["show", "nothing"])).toMatchObject({ code: 1, stdout: "" });
});

test("provider list says which providers have a key", async () => {
  const cli = await Cli.open();
  const env = { OPENAI_API_KEY: "sk-test-0123456789abcdef" };
  const { code, stdout } = await cli.run(["provider", "list", "--json"], { env });
  expect(code).toBe(0);
  const keys = (JSON.parse(stdout) as { provider: string; key: string }[]).map(({ provider, key }) => [provider, key]);
  expect(Object.fromEntries(keys)).toMatchObject({ openai: "set", anthropic: "missing", offline: "not needed" });
  const text = await cli.run(["providers"], { env });
  expect(text.stdout).toContain("missing: ANTHROPIC_API_KEY");
  expect(text.stdout).not.toContain("sk-test");
});
