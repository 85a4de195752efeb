import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Cli } from "../support/cli.js";
import { mockKey, mockLlm, wireEnv } from "../support/wire-apis.js";

const pemLine = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";
const jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbGljZSJ9.dGhpcy1pcy1hLXNpZ25hdHVyZQ";

/** Environment values, of which only some are passed to tools. */
const known = {
  ANTHROPIC_API_KEY: "sk-ant-api03-known-0a1b2c3d",
  DEPLOY_TOKEN: "deploy-Tok3n-from-the-env",
  DATABASE_URL: "postgres://app:Dat4base%2FPass@db.example/x",
  APP_SECRET: 'quoted "S3cret" \\with\\ slashes/',
  SIGNING_PRIVATE_KEY: `-----BEGIN PRIVATE KEY-----\n${pemLine}\n-----END PRIVATE KEY-----\n`,
  SPLIT_TOKEN: "spl1t-over-many-small-deltas",
  SUMMARY_TOKEN: "s0mething-the-summary-repeats",
  NAME_TOKEN: "n4me-of-a-conversation",
  ENCODED_TOKEN: "enc0ded/in+addresses?",
  HEX_TOKEN: "hexadec1mal-dump",
  WRITTEN_PASSWORD: "wr1tten-to-a-file",
  REFUSED_TOKEN: "refus3d-with-its-command",
};
const configured = "c0nfigured-key-of-my-lab";
const gitPassword = "g1t-remote-password";

/** Values that must be in no file below the home, plain or encoded. */
const planted: readonly string[] = [
  mockKey,
  known.ANTHROPIC_API_KEY,
  known.DEPLOY_TOKEN,
  "Dat4base%2FPass",
  "Dat4base/Pass",
  known.APP_SECRET,
  pemLine,
  known.SPLIT_TOKEN,
  known.SUMMARY_TOKEN,
  known.NAME_TOKEN,
  known.ENCODED_TOKEN,
  known.HEX_TOKEN,
  known.WRITTEN_PASSWORD,
  known.REFUSED_TOKEN,
  configured,
  gitPassword,
  "XYZ-named-in-a-prompt",
  "be4rer-in-an-argument",
  "dotenv-f1le-password",
  "AKIAIOSFODNN7EXAMPLE",
  jwt,
  "p4ss-in-an-address",
];

function formsOf(secret: string): string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  const bytes = Buffer.from(secret);
  return [
    secret,
    json,
    JSON.stringify(json).slice(1, -1),
    encodeURIComponent(secret),
    bytes.toString("base64"),
    bytes.toString("hex"),
  ];
}

/** Every file below the home except the configuration, in which the user has stored a key. */
async function storedFiles(home: string): Promise<Map<string, string>> {
  const entries = await readdir(home, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const texts = paths.filter((path) => path !== join(home, "config.json"));
  return new Map(await Promise.all(texts.map(async (path) => [path, await readFile(path, "latin1")] as const)));
}

async function project(cli: Cli): Promise<void> {
  await mkdir(join(cli.project, ".git"));
  await writeFile(join(cli.project, ".git", "HEAD"), "ref: refs/heads/main\n");
  const remote = `[remote "origin"]\n\turl = https://alice:${gitPassword}@git.example/repo.git\n`;
  await writeFile(join(cli.project, ".git", "config"), remote);
  await writeFile(join(cli.project, ".env"), "DB_PASSWORD=dotenv-f1le-password\nDEBUG=1\n");
  await writeFile(join(cli.project, "key.pem"), known.SIGNING_PRIVATE_KEY);
  await mkdir(cli.home, { mode: 0o700 });
  const config = {
    provider: "openai",
    api: "responses",
    model: "gpt-5",
    providers: { "my-lab": { apiKey: configured } },
    toolEnv: ["DEPLOY_TOKEN"],
    redaction: { shapes: true },
    export: { directory: join(cli.home, "exports") },
  };
  await writeFile(join(cli.home, "config.json"), JSON.stringify(config), { mode: 0o600 });
}

const formats = ["codex", "json", "markdown", "html", "envoy", "diligent"];

function shell(id: string, command: string) {
  return { id, name: "shell", arguments: { command: ["sh", "-c", command] } };
}

test("the model receives the secrets of a person and its own, but not a key that a tool prints, and the disk none", async () => {
  const base64 = Buffer.from(known.ANTHROPIC_API_KEY).toString("base64");
  const hex = Buffer.from(known.HEX_TOKEN).toString("hex");
  const json = JSON.stringify({ secret: known.APP_SECRET });
  const mock = await mockLlm([
    { fault: { type: "status", status: 401, message: `Incorrect API key provided: ${mockKey}` } },
    {
      text: `I will use ${known.SPLIT_TOKEN} now`,
      deltas: 20,
      calls: [
        shell("call_1", "env; echo it failed: $DEPLOY_TOKEN >&2; exit 3"),
        shell("call_2", `cat key.pem; echo ${base64}; echo ${hex}; echo ${jwt}`),
        { id: "call_3", name: "read_file", arguments: { path: ".env" } },
        {
          id: "call_4",
          name: "write_file",
          arguments: { path: "x.txt", content: `password: ${known.WRITTEN_PASSWORD}` },
        },
        shell(
          "call_5",
          `curl -H 'Authorization: Bearer be4rer-in-an-argument' 'http://127.0.0.1:1/?q=${encodeURIComponent(known.ENCODED_TOKEN)}'`,
        ),
        { id: "call_6", name: "shell", arguments: { command: ["true"], workdir: `/no/such/${known.DEPLOY_TOKEN}` } },
        { id: "call_7", name: "shell", arguments: `{"command": ["echo", ${JSON.stringify(json)}]}` },
      ],
    },
    { text: "done" },
    { calls: [shell("call_8", `echo ${known.REFUSED_TOKEN}`)] },
    { text: "It was refused" },
    { text: `The summary says ${known.SUMMARY_TOKEN}` },
    { text: "I go on" },
  ]);
  const cli = await Cli.open();
  await project(cli);
  const env = { ...wireEnv(mock), ...known, CODY_DEBUG: "1" };
  const id = (await cli.run(["new", "--name", `about ${known.NAME_TOKEN}`], { env })).stdout.trim();
  const rejected = await cli.run(["chat", "hello"], { env });
  expect(rejected).toMatchObject({ code: 1 });
  expect(rejected.stderr).not.toContain(mockKey);
  const prompt =
    `api_key=XYZ-named-in-a-prompt, AKIAIOSFODNN7EXAMPLE, ${configured}, ${mockKey}, ${known.DATABASE_URL}, ` +
    `ftp://bob:p4ss-in-an-address@files.example and Dat4base/Pass`;
  const result = await cli.run(["chat", "--sandbox", "danger-full-access", prompt], { env });
  expect(result).toMatchObject({ code: 0, stdout: expect.stringContaining("done\n") });
  expect(result.stderr).toMatch(/\n\d+ secrets were not written to disk\n$/);
  expect(await cli.run(["chat", "run it"], { env })).toMatchObject({ code: 1, stdout: "It was refused\n" });
  expect(await cli.run(["compact"], { env })).toMatchObject({ code: 0 });
  expect(await cli.run(["chat", "go on"], { env })).toMatchObject({ code: 0, stdout: "I go on\n" });
  await cli.run(["resume", id, "--fork"], { env });
  const exports = formats.map((format) => ["export", id, "--format", format]);
  for (const command of [["list"], ["doctor"], ["context"], ["index"], ["search", "summary"], ...exports])
    expect(await cli.run(command, { env })).toMatchObject({ code: 0 });

  const files = await storedFiles(cli.home);
  const names = [...files.keys()];
  expect(names.filter((path) => path.startsWith(cli.conversations) && path.endsWith(".jsonl"))).toHaveLength(3);
  expect(names.filter((path) => path.startsWith(join(cli.home, "exports")))).toHaveLength(formats.length);
  for (const ending of [".log", "index.sqlite", "heads.json"])
    expect(names.some((path) => path.endsWith(ending))).toBe(true);
  const found = planted.flatMap((secret) =>
    [...files].flatMap(([path, text]) =>
      formsOf(secret).some((form) => text.includes(form)) ? [{ secret, path }] : [],
    ),
  );
  expect(found).toEqual([]);
  expect(planted.length).toBeGreaterThanOrEqual(20);

  const sent = mock.requests.map(({ body }) => JSON.stringify(body)).join("\n");
  const notSent = new Set([known.NAME_TOKEN, gitPassword, known.SUMMARY_TOKEN, known.APP_SECRET, pemLine]);
  const missing = planted.filter((secret) => !formsOf(secret).some((form) => sent.includes(form)));
  expect(missing.filter((secret) => !notSent.has(secret))).toEqual([]);
});

test("a turn without secrets prints no notice about them", async () => {
  const mock = await mockLlm([{ text: "Hello" }]);
  const cli = await Cli.open();
  expect(await cli.run(["chat", "--provider", "openai", "hello"], { env: wireEnv(mock) })).toMatchObject({
    stdout: "Hello\n",
    stderr: expect.not.stringContaining("disk"),
  });
});
