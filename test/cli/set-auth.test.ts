import { chmod, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Cli } from "../support/cli.js";
import { mockKey, mockLlm, wireEnv } from "../support/wire-apis.js";

/** A fake keyring that stores its input in a file and records its arguments. */
async function fakeKeyring(cli: Cli): Promise<{ env: Record<string, string>; arguments: string }> {
  const folder = join(cli.project, "bin");
  await mkdir(folder);
  const program = join(folder, "secret-tool");
  const script = `#!/bin/sh
echo "$@" >> ${folder}/arguments
case "$1" in
  store) cat > ${folder}/kept-$7 ;;
  lookup) cat ${folder}/kept-$5 ;;
esac
`;
  await writeFile(program, script);
  await chmod(program, 0o755);
  return { env: { PATH: `${folder}:${cli.env["PATH"]}` }, arguments: join(folder, "arguments") };
}

test("a key from stdin is stored in the configuration, readable by its owner only, and nowhere else", async () => {
  const mock = await mockLlm([{ text: "Hello" }]);
  const { OPENAI_API_KEY: _, ANTHROPIC_API_KEY: __, ...env } = wireEnv(mock);
  const cli = await Cli.open();
  const set = await cli.run(["set-auth", "openai-api-key", "-"], { env, input: `${mockKey}\n` });
  expect(set).toMatchObject({ code: 0, stdout: "✓ Auth method set: openai-api-key\n", stderr: "" });
  expect(await cli.run(["chat", "Hi"], { env })).toMatchObject({ code: 0, stdout: "Hello\n" });
  const path = join(cli.home, "config.json");
  expect(JSON.parse(await readFile(path, "utf8"))).toEqual({
    auth: "openai-api-key",
    providers: { openai: { apiKey: mockKey } },
  });
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

test("a key is written to the keyring through a pipe, and read from it when needed", async () => {
  const mock = await mockLlm([{ text: "Hello" }]);
  const cli = await Cli.open();
  const keyring = await fakeKeyring(cli);
  const env = { OPENAI_BASE_URL: `${mock.url}/v1`, ...keyring.env };
  const set = ["set-auth", "openai-api-key", "-", "--keyring"];
  expect(await cli.run(set, { env, input: mockKey })).toMatchObject({ code: 0, stderr: "" });
  const config = await readFile(join(cli.home, "config.json"), "utf8");
  expect(JSON.parse(config)).toEqual({ auth: "openai-api-key", providers: { openai: { keyring: true } } });
  expect(await cli.run(["chat", "Hi"], { env })).toMatchObject({ code: 0, stdout: "Hello\n" });
  expect(await readFile(keyring.arguments, "utf8")).toBe(
    "store --label cody: openai service cody account openai\nlookup service cody account openai\n",
  );
  expect((await cli.run(["config", "get", "providers.openai.keyring"])).stdout).toBe("true\n");
});

test("without a keyring the key is not stored", async () => {
  const cli = await Cli.open();
  const env = { PATH: join(cli.project, "nowhere") };
  const { code, stderr } = await cli.run(["set-auth", "openrouter-api-key", "-", "--keyring"], { env, input: mockKey });
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: "✗ cannot use the keyring: secret-tool is not installed or failed\n",
  });
  await expect(stat(join(cli.home, "config.json"))).rejects.toThrow("ENOENT");
});

test.each([
  [["openai-api-key", "sk-canary-1234567890"], "Don't pass keys as arguments"],
  [["openai-api-key", "-"], "No key on stdin"],
  [["chatgpt-oauth", "-"], "chatgpt-oauth does not use a key"],
  [["openai-api-key", "--keyring"], "--keyring needs a key"],
])("set-auth %j is a usage error", async (args, text) => {
  const cli = await Cli.open();
  const { code, stderr } = await cli.run(["set-auth", ...args]);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(text) });
  expect(stderr).not.toContain("canary");
});

test("selecting a Claude login shows Anthropic's terms for it", async () => {
  const cli = await Cli.open();
  expect(await cli.run(["set-auth", "claude-oauth"])).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("only in Claude Code and on claude.ai"),
  });
});
