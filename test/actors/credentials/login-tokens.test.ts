import { chmod, mkdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { borrowedPlaces } from "../../../src/actors/credentials/find-tokens.js";
import { LoginTokens } from "../../../src/actors/credentials/credentials.js";
import { TokenStore } from "../../../src/actors/credentials/token-store.js";
import { loginFacts } from "../../../src/config/providers/logins.js";
import { createTransport } from "../../../src/providers/transport/node-transport.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { account, codexAuth, TokenIssuer } from "../../support/token-issuer.js";

const hourMs = 3_600_000;

async function open() {
  const issuer = await TokenIssuer.open();
  const [home, codexHome] = [await temporaryFolder(), await temporaryFolder()];
  const first = issuer.issue();
  const authFile = await issuer.giveToCodex(codexHome, first);
  const transport = createTransport({});
  onTestFinished(() => transport.close());
  const warnings: string[] = [];
  const store = new TokenStore(home);
  const loginTokens = new LoginTokens({
    facts: loginFacts("chatgpt", { chatgpt: { issuer: issuer.url } }),
    store,
    places: borrowedPlaces({ CODEX_HOME: codexHome }, () => home),
    transport,
    now: () => issuer.nowMs,
    warn: (message) => warnings.push(message),
    learn: () => undefined,
    onRenewal: () => undefined,
  });
  return { issuer, loginTokens, store, warnings, first, authFile, path: join(home, "tokens.json") };
}

test("a failing issuer is retried after a pause, and the current token is used until it expires", async () => {
  const { issuer, loginTokens, first } = await open();
  issuer.fault = (response) => response.writeHead(503).end();
  issuer.nowMs += hourMs - 120_000;
  expect((await loginTokens.tokens()).accessToken).toBe(first.access);
  expect((await loginTokens.tokens()).accessToken).toBe(first.access);
  expect(issuer.requests).toHaveLength(1);
  issuer.nowMs += 60_000;
  await loginTokens.tokens();
  expect(issuer.requests).toHaveLength(2);
  issuer.nowMs += 60_000;
  await expect(loginTokens.tokens()).rejects.toMatchObject({
    failure: { code: "overloaded", message: "ChatGPT login: the server answered 503", retryable: true },
  });
  issuer.fault = undefined;
  expect((await loginTokens.tokens()).accessToken).not.toBe(first.access);
  expect(issuer.refreshes).toBe(1);
});

test("an issuer that sends no answer, a broken connection or an invalid answer fails with our own error message", async () => {
  const { issuer, loginTokens, first } = await open();
  issuer.nowMs += hourMs;
  issuer.fault = (response) => response.destroy();
  await expect(loginTokens.tokens()).rejects.toThrow(/^ChatGPT login: /);
  for (const body of ["<html>canary", '{"access_token":"with blanks canary"}', "[]", "{}"]) {
    issuer.fault = (response) => response.writeHead(200, { "content-type": "application/json" }).end(body);
    const error = await loginTokens.tokens().catch((reason: Error) => reason.message);
    expect(error).toMatch(/ChatGPT login/);
    expect(error).not.toMatch(/canary/);
    expect(error).not.toContain(first.refresh);
  }
});

test("a permanently refused refresh token is not sent again, and the error contains no token", async () => {
  const { issuer, loginTokens, first } = await open();
  issuer.nowMs += hourMs;
  issuer.fault = (response, sent) => {
    const error = { code: "refresh_token_expired", message: `${sent["refresh_token"]} is old` };
    response.writeHead(401).end(JSON.stringify({ error }));
  };
  const said = "the ChatGPT login is no longer valid (refresh_token_expired). Run: cody login";
  await expect(loginTokens.tokens()).rejects.toMatchObject({
    failure: { code: "auth", message: said, retryable: false },
  });
  await expect(loginTokens.renewed(first.access)).rejects.toThrow(said);
  expect(issuer.requests).toHaveLength(1);
});

test("before a login counts as ended, tokens renewed by the program that owns it are looked up", async () => {
  const { issuer, loginTokens, authFile } = await open();
  issuer.nowMs += hourMs;
  let renewed = "";
  issuer.fault = (response) => {
    const tokens = issuer.issue();
    renewed = tokens.access;
    void writeFile(authFile, codexAuth(tokens)).then(() => response.writeHead(400).end('{"error":"invalid_grant"}'));
  };
  expect((await loginTokens.tokens()).accessToken).toBe(renewed);
});

test("new tokens that cannot be saved are used, cause a warning, and are saved at the next attempt", async () => {
  const { issuer, loginTokens, warnings, path, store } = await open();
  issuer.nowMs += hourMs;
  issuer.fault = (response) => {
    const { access, refresh } = issuer.issue();
    const answer = JSON.stringify({ access_token: access, refresh_token: refresh });
    void mkdir(path).then(() => response.writeHead(200, { "content-type": "application/json" }).end(answer));
  };
  const unsaved = await loginTokens.tokens();
  expect(warnings).toEqual([expect.stringMatching(/^Cannot save the new token of the ChatGPT login: .*tokens\.json/)]);
  expect(warnings.join()).not.toContain(unsaved.accessToken);
  await rm(path, { recursive: true });
  issuer.fault = undefined;
  issuer.nowMs += hourMs;
  const saved = await loginTokens.tokens();
  expect([issuer.refreshes, issuer.isRevoked]).toEqual([1, false]);
  expect(await store.read("chatgpt")).toEqual(saved);
});

test("tokens are not refreshed if the token file is not writable", async () => {
  const { issuer, loginTokens, path } = await open();
  issuer.nowMs += hourMs;
  await rm(join(path, ".."), { recursive: true });
  await writeFile(join(path, ".."), "in the way");
  await expect(loginTokens.tokens()).rejects.toMatchObject({
    failure: { code: "not_saved", message: expect.stringContaining("so no token was renewed") },
  });
  expect(issuer.requests).toEqual([]);
});

test("the token file is private to its user, and a symlink, a damaged file or another version is refused", async () => {
  const { issuer, loginTokens, path, store } = await open();
  issuer.nowMs += hourMs;
  await loginTokens.tokens();
  await chmod(path, 0o644);
  await store.read("chatgpt");
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  const text = await readFile(path, "utf8");
  for (const [changed, reason] of [
    ["{damaged canary", "is damaged"],
    [text.replace('"version": 1', '"version": 2'), "written by another version"],
  ] as const) {
    await writeFile(path, changed);
    await expect(store.read("chatgpt")).rejects.toThrow(reason);
    await expect(store.read("chatgpt")).rejects.not.toThrow("canary");
  }
  await writeFile(`${path}.elsewhere`, text);
  await rm(path);
  await symlink(`${path}.elsewhere`, path);
  await expect(store.read("chatgpt")).rejects.toThrow("it is a symbolic link");
});

test("unknown fields of a newer version in the token file are kept", async () => {
  const { issuer, loginTokens, path } = await open();
  await writeFile(path, JSON.stringify({ version: 1, logins: { other: { x: 1 } }, more: [2] }));
  issuer.nowMs += hourMs;
  await loginTokens.tokens();
  expect(JSON.parse(await readFile(path, "utf8"))).toMatchObject({
    version: 1,
    more: [2],
    logins: { other: { x: 1 }, chatgpt: { email: account.email } },
  });
});

test.each([
  ["nothing", ""],
  ["no JSON", "{"],
  ["no object", "[1]"],
  ["a key instead", '{"OPENAI_API_KEY":"sk-x"}'],
  ["a newer shape", '{"tokens":{"v2":true}}'],
  ["a token that is no word", '{"tokens":{"access_token":"a\\nb"}}'],
])("a Codex auth file with %s, or a missing one, counts as no login and is left unchanged", async (_, text) => {
  const { loginTokens, authFile } = await open();
  await writeFile(authFile, text);
  await expect(loginTokens.tokens()).rejects.toThrow("no ChatGPT login found. Run: cody login");
  expect(await readFile(authFile, "utf8")).toBe(text);
  await rm(authFile);
  await expect(loginTokens.tokens()).rejects.toThrow("no ChatGPT login found");
});
