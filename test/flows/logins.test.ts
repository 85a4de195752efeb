import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ManagerOptions } from "../../src/actors/conversation/open/manager-options.js";
import { openManager } from "../support/open-conversation.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { account, TokenIssuer } from "../support/token-issuer.js";

/** A manager whose user is logged in with Codex, and the issuer of the login. */
async function loggedIn(options: ManagerOptions = {}) {
  const issuer = await TokenIssuer.open();
  const codexHome = await temporaryFolder();
  const authFile = await issuer.giveToCodex(codexHome);
  const { manager, home } = await openManager({
    env: { CODEX_HOME: codexHome },
    config: {
      auth: "chatgpt-oauth",
      logins: { chatgpt: { issuer: issuer.url } },
      providers: { openai: { baseUrl: `${issuer.url}/backend-api/codex` } },
    },
    now: () => new Date(issuer.nowMs),
    ...options,
  });
  return { issuer, manager, home, authFile, tokens: join(home, "tokens.json") };
}

test("a ChatGPT login of Codex is used over Responses with its token and account, and its file stays unchanged", async () => {
  const { issuer, manager, authFile, tokens } = await loggedIn();
  const before = await readFile(authFile, "utf8");
  const { conversation } = await manager.newConversation();
  await conversation.processMessage("Hi");
  const [request] = issuer.requests;
  expect(request?.path).toBe("/backend-api/codex/responses");
  expect(request?.headers).toMatchObject({
    authorization: expect.stringMatching(/^Bearer ey/),
    "chatgpt-account-id": account.accountId,
  });
  expect(JSON.parse(request?.body ?? "")).toMatchObject({ model: "gpt-5", store: false, stream: true });
  expect(await readFile(authFile, "utf8")).toBe(before);
  await expect(stat(tokens)).rejects.toThrow("ENOENT");
});

test("a token about to expire is renewed once for all simultaneous requests, into cody's own file", async () => {
  const { issuer, manager, authFile, tokens } = await loggedIn();
  const before = await readFile(authFile, "utf8");
  const opened = await Promise.all([1, 2, 3, 4, 5].map(() => manager.newConversation()));
  issuer.nowMs += 3_600_000 - 60_000;
  await Promise.all(opened.map(({ conversation }) => conversation.processMessage("Hi")));
  expect([issuer.refreshes, new Set(issuer.proofs).size]).toEqual([1, 1]);
  expect(await readFile(authFile, "utf8")).toBe(before);
  expect((await stat(tokens)).mode & 0o777).toBe(0o600);
  expect(JSON.parse(await readFile(tokens, "utf8"))).toMatchObject({
    version: 1,
    logins: { chatgpt: { email: account.email, accountId: account.accountId, plan: account.plan } },
  });
});

test("a token the server refuses is renewed, and the request is sent once more", async () => {
  const { issuer, manager } = await loggedIn();
  const { conversation } = await manager.newConversation();
  issuer.endAccess();
  await conversation.processMessage("Hi");
  expect([issuer.refreshes, issuer.proofs.length]).toEqual([1, 2]);
  issuer.fault = (response) => response.writeHead(400).end('{"error":"invalid_grant"}');
  issuer.endAccess();
  await expect(conversation.processMessage("Again")).rejects.toThrow(
    "openai: the ChatGPT login is no longer valid (invalid_grant). Run: cody login",
  );
});

test("a token that Codex renewed itself replaces the older one that cody renewed", async () => {
  const { issuer, manager, authFile } = await loggedIn();
  const { conversation } = await manager.newConversation();
  issuer.endAccess();
  await conversation.processMessage("Hi");
  const { access } = issuer.issue();
  const text = (await readFile(authFile, "utf8")).replace(/"access_token":"[^"]*"/, `"access_token":"${access}"`);
  await writeFile(authFile, text.replace(/"refresh_token":"[^"]*"/, '"refresh_token":"rt-of-codex"'));
  await conversation.processMessage("Again");
  expect([issuer.refreshes, issuer.proofs.at(-1)]).toEqual([1, `Bearer ${access}`]);
});

test("summaries use the login too", async () => {
  const { issuer, manager } = await loggedIn();
  const { conversation } = await manager.newConversation();
  await conversation.processMessage("Hi");
  issuer.endAccess();
  await conversation.compact();
  expect(issuer.refreshes).toBe(1);
  expect(issuer.proofs.slice(1)).toEqual([issuer.proofs[0], expect.not.stringContaining(issuer.proofs[0] ?? "")]);
});

test("a login uses only its own API, and the environment cannot redirect its token", async () => {
  const { manager } = await loggedIn();
  await expect(manager.newConversation({ api: "chat" })).rejects.toThrow(
    "A ChatGPT login works with the responses API, not chat",
  );
  const codexHome = await temporaryFolder();
  const env = { CODEX_HOME: codexHome, OPENAI_BASE_URL: "http://127.0.0.1:9/v1" };
  const { manager: another } = await openManager({ env, config: { auth: "chatgpt-oauth" } });
  const { conversation } = await another.newConversation();
  expect(conversation.settings).toMatchObject({
    provider: "openai",
    baseUrl: "https://chatgpt.com/backend-api/codex",
    login: "chatgpt",
  });
  await expect(conversation.processMessage("Hi")).rejects.toThrow("openai: no ChatGPT login found. Run: cody login");
});

test("a Claude login is used only when chosen, and is sent as a token and never as a key", async () => {
  const issuer = await TokenIssuer.open();
  const claudeHome = await temporaryFolder();
  const { access, refresh } = issuer.issue();
  const path = join(claudeHome, ".credentials.json");
  const oauth = { accessToken: access, refreshToken: refresh, expiresAt: issuer.nowMs + 3_600_000, scopes: ["x"] };
  const text = JSON.stringify({ claudeAiOauth: { ...oauth, subscriptionType: "max" }, other: 1 });
  await writeFile(path, text);
  const options: ManagerOptions = {
    env: { CLAUDE_CONFIG_DIR: claudeHome },
    now: () => new Date(issuer.nowMs),
    config: {
      provider: "anthropic",
      logins: { claude: { tokenUrl: `${issuer.url}/oauth/token` } },
      providers: { anthropic: { baseUrl: issuer.url } },
    },
  };
  const { manager: without } = await openManager(options);
  await expect(without.newConversation()).rejects.toThrow("ANTHROPIC_API_KEY environment variable is required.");
  const { manager } = await openManager({ ...options, config: { ...options.config, auth: "claude-oauth" } });
  const { conversation } = await manager.newConversation();
  await conversation.processMessage("Hi");
  issuer.nowMs += 3_600_000;
  await conversation.processMessage("Again");
  expect(issuer.refreshes).toBe(1);
  expect(issuer.requests.filter((request) => request.path === "/v1/messages").map(({ headers }) => headers)).toEqual(
    Array.from({ length: 2 }, () =>
      expect.objectContaining({
        authorization: expect.stringMatching(/^Bearer ey/),
        "anthropic-beta": "oauth-2025-04-20",
      }),
    ),
  );
  for (const { headers } of issuer.requests) expect(headers).not.toHaveProperty("x-api-key");
  expect(await readFile(path, "utf8")).toBe(text);
});

test("when the server refuses the new token too, there is no third request, and its error shows no token", async () => {
  const { issuer, manager, home } = await loggedIn();
  const { conversation } = await manager.newConversation();
  issuer.isClosed = true;
  await expect(conversation.processMessage("Hi")).rejects.toThrow(
    "openai rejected the API key or login (401): refused: Bearer [key]",
  );
  expect([issuer.refreshes, issuer.proofs.length]).toEqual([1, 2]);
  await manager.shutdown();
  const secrets = issuer.proofs.map((proof) => proof?.slice("Bearer ".length) ?? "");
  const rollout = await readFile(conversation.rolloutPath ?? "", "utf8");
  expect(rollout).toContain("refused: Bearer [key]");
  for (const secret of secrets) expect(rollout).not.toContain(secret);
  expect((await readdir(home)).filter((name) => name.includes("tokens"))).toEqual(["tokens.json"]);
});

test("a manager shut down during a token renewal stores the renewed token", async () => {
  const { issuer, manager, tokens } = await loggedIn();
  const { conversation } = await manager.newConversation();
  issuer.nowMs += 3_600_000;
  const { access, refresh } = issuer.issue();
  const renewed = new Promise<void>((resolve) => {
    issuer.fault = (response) => {
      void manager.shutdown();
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ access_token: access, refresh_token: refresh }));
      resolve();
    };
  });
  await Promise.all([conversation.processMessage("Hi").catch(() => undefined), renewed]);
  await manager.shutdown();
  expect(JSON.parse(await readFile(tokens, "utf8"))).toMatchObject({ logins: { chatgpt: { refreshToken: refresh } } });
});

test("known tokens, old and renewed, are redacted on disk", async () => {
  const { issuer, manager, home, authFile, tokens } = await loggedIn();
  const { conversation } = await manager.newConversation();
  const before = JSON.parse(await readFile(authFile, "utf8")).tokens;
  issuer.endAccess();
  await conversation.processMessage("Hi");
  const { accessToken, refreshToken } = JSON.parse(await readFile(tokens, "utf8")).logins.chatgpt;
  const secrets: string[] = [before.access_token, before.refresh_token, accessToken, refreshToken];
  await conversation.processMessage(`I found ${secrets.join(" and ")}`);
  await conversation.flush();
  expect(await saidOnDisk(home)).toContain("I found [redacted] and [redacted] and [redacted] and [redacted]");
  for (const secret of secrets) expect(await saidOnDisk(home)).not.toContain(secret);
});

test("a key from the keyring is redacted on disk", async () => {
  const issuer = await TokenIssuer.open();
  const folder = await temporaryFolder();
  for (const name of ["secret-tool", "security"]) {
    await writeFile(join(folder, name), "#!/bin/sh\nprintf kept-key-canary-1\n", { mode: 0o755 });
  }
  const providers = { openai: { keyring: true, baseUrl: issuer.url } };
  const { manager, home } = await openManager({
    env: { PATH: `${folder}:${process.env["PATH"]}` },
    config: { provider: "openai", providers },
  });
  const { conversation } = await manager.newConversation();
  for (const text of ["Hi", "It is kept-key-canary-1."]) {
    await expect(conversation.processMessage(text)).rejects.toThrow("401");
  }
  await conversation.flush();
  expect(issuer.proofs).toContain("Bearer kept-key-canary-1");
  expect(await saidOnDisk(home)).toContain("It is [redacted].");
  expect(await saidOnDisk(home)).not.toContain("canary");
});

async function saidOnDisk(home: string): Promise<string> {
  const folder = join(home, "conversations");
  const names = (await readdir(folder)).filter((name) => name.endsWith(".jsonl"));
  return (await Promise.all(names.map((name) => readFile(join(folder, name), "utf8")))).join("");
}
