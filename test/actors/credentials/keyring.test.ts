import { chmod, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Keyring } from "../../../src/actors/credentials/keyring.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

/** A fake keyring program that records its arguments, environment and stdin, and prints the given answer. */
async function program(
  name: string,
  answer: string,
): Promise<{ folder: string; readonly heard: () => Promise<string> }> {
  const folder = await temporaryFolder();
  const script = `#!/bin/sh\n{ echo "$@"; cat; env; } >> ${folder}/heard\nprintf '%s' '${answer}'\n`;
  await writeFile(join(folder, name), script);
  await chmod(join(folder, name), 0o755);
  return { folder, heard: () => readFile(join(folder, "heard"), "utf8") };
}

function keyringIn(folder: string, platform: NodeJS.Platform): Keyring {
  const env = { PATH: `${folder}:${process.env["PATH"]}`, OPENAI_API_KEY: "sk-of-the-environment" };
  return new Keyring(env, platform);
}

test("on macOS a key is passed to security through stdin, whatever characters it contains", async () => {
  const { folder, heard } = await program("security", "");
  await keyringIn(folder, "darwin").keep("openai", String.raw`sk-"quoted"\key`);
  const [args, told] = (await heard()).split("\n");
  expect([args, told]).toEqual(["-i", String.raw`add-generic-password -U -s cody -a openai -w "sk-\"quoted\"\\key"`]);
});

test("Claude Code's keychain entry is read on macOS only, and the program gets a minimal environment", async () => {
  const { folder, heard } = await program("security", '{"claudeAiOauth":{}}');
  expect(await keyringIn(folder, "linux").claudeCredentials()).toBeUndefined();
  expect(await keyringIn(folder, "darwin").claudeCredentials()).toBe('{"claudeAiOauth":{}}');
  expect(await heard()).toMatch(/^find-generic-password -s Claude Code-credentials -w\n/);
  expect(await heard()).not.toContain("sk-of-the-environment");
});

test("an empty answer or a missing program counts as no key", async () => {
  const { folder } = await program("secret-tool", "");
  expect(await keyringIn(folder, "linux").key("openai")).toBeUndefined();
  expect(await new Keyring({ PATH: folder }, "darwin").key("openai")).toBeUndefined();
});
