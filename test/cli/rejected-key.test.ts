import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { MockLlm } from "../../src/mock-llm/server.js";
import { FakeTerminal } from "../support/cli-terminal.js";
import { openMock } from "../support/open-mock-llm.js";
import { scripted } from "../support/scripted-provider.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const key = "sk-rejected-0123456789-WXYZ";
const changed = "run: cody set-auth openai-api-key -";

interface Sources {
  readonly env?: Readonly<Record<string, string>>;
  readonly config?: object;
  readonly args?: readonly string[];
  readonly notTTY?: readonly "stderr"[];
}

/** Chats with a server that rejects the key; resolves with the output and the files on disk. */
async function chatWithRejectedKey({ env = {}, config = {}, args = [], notTTY = [] }: Sources) {
  const mock: MockLlm = await openMock({ apiKey: "another" });
  const home = await temporaryFolder();
  await writeFile(join(home, "config.json"), JSON.stringify(config), { mode: 0o600 });
  const terminal = await FakeTerminal.open(scripted([]), {
    home,
    notTTY,
    env: { ...env, CODY_DEBUG: "1" },
    answering: ["--base-url", `${mock.url}/v1`],
  });
  const code = await terminal.run("chat", ...args, "Hi");
  const names = await readdir(home, { recursive: true, withFileTypes: true });
  const files = names.filter((entry) => entry.isFile() && entry.name !== "config.json");
  const texts = await Promise.all(files.map((entry) => readFile(join(entry.parentPath, entry.name), "utf8")));
  return { code, errors: terminal.errors, screen: terminal.screen, disk: texts.join("\n") };
}

test("a rejected environment key is named by its variable, and on a terminal by its last characters", async () => {
  const { code, errors, disk } = await chatWithRejectedKey({
    env: { OPENAI_API_KEY: key },
    args: ["--provider", "openai"],
  });
  expect(code).toBe(1);
  const where = "You can find your API key at https://platform.openai.com/account/api-keys";
  expect(errors).toContain(
    [
      `✗ openai rejected the API key or login (401): Incorrect API key provided: [key]. ${where}.\n`,
      `  The API key comes from OPENAI_API_KEY. To change it, set that variable or ${changed}\n`,
      "  The rejected API key ends in …WXYZ\n",
    ].join(""),
  );
  expect(disk).toContain("The API key comes from OPENAI_API_KEY");
  expect(disk).not.toContain("WXYZ");
});

test("events and redirected stderr contain no part of the key", async () => {
  const sources = { env: { OPENAI_API_KEY: key }, notTTY: ["stderr"] } as const;
  const { errors, screen, disk } = await chatWithRejectedKey({ ...sources, args: ["--provider", "openai", "--json"] });
  expect(screen).toContain("The API key comes from OPENAI_API_KEY");
  expect(errors).toContain("The API key comes from OPENAI_API_KEY");
  expect(errors + screen + disk).not.toContain("WXYZ");
});

test("no part of a short key is shown", async () => {
  const { errors } = await chatWithRejectedKey({
    env: { OPENAI_API_KEY: "sk-short-WXYZ" },
    args: ["--provider", "openai"],
  });
  expect(errors).toContain("The API key comes from OPENAI_API_KEY");
  expect(errors).not.toContain("WXYZ");
});

test.each([
  ["openai", { apiKey: key }, `providers.openai.apiKey in the configuration. To change it, ${changed}`, true],
  [
    "my-lab",
    { apiKey: key },
    "providers.my-lab.apiKey in the configuration. To change it, run: cody config set providers.my-lab.apiKey -",
    true,
  ],
  [
    "my-lab",
    {},
    "No API key is set. To set one, export MY_LAB_API_KEY or run: cody config set providers.my-lab.",
    false,
  ],
])("the message after a 401 says where the key of %s comes from, with %j", async (provider, entry, text, hasKey) => {
  const args = ["--provider", provider, "--model", "m", "--api", "chat"];
  const { errors, disk } = await chatWithRejectedKey({ config: { providers: { [provider]: entry } }, args });
  expect(errors).toContain(text);
  expect(errors.includes("ends in …WXYZ")).toBe(hasKey);
  expect(disk).not.toContain("WXYZ");
});
