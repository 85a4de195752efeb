import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { ServerLogin } from "../../../../src/actors/mcp/login/server-login.js";
import { TokenStore } from "../../../../src/actors/credentials/token-store.js";
import { OAuthServer } from "../../../support/mcp/oauth-server.js";
import { temporaryFolder } from "../../../support/temporary-folder.js";

async function open(server: OAuthServer, expiresIn = 3_600) {
  const home = await temporaryFolder();
  const store = new TokenStore(home);
  server.expiresIn = expiresIn;
  await store.locked(() => store.writeMcp(server.url, server.login()));
  server.expiresIn = 3_600;
  const warnings: string[] = [];
  const login = (): ServerLogin =>
    new ServerLogin({
      name: "far",
      url: server.url,
      home,
      fetch,
      learn: () => undefined,
      warn: (message) => warnings.push(message),
    });
  return { store, login, warnings };
}

test("concurrent requests for a token share one refresh", async () => {
  const server = await OAuthServer.open();
  const { login, store } = await open(server, 0);
  const logins = Array.from({ length: 10 }, login);
  const tokens = await Promise.all(logins.flatMap((each) => [each.token(), each.token()]));
  expect(new Set(tokens)).toEqual(new Set([(await store.readMcp(server.url))?.accessToken]));
  expect([server.refreshes, server.reuses]).toEqual([1, 0]);
});

test("a new token that cannot be saved is used, and the refresh token in the file is not sent twice", async () => {
  const server = await OAuthServer.open();
  const { login, store, warnings } = await open(server, 0);
  const before = await readFile(store.path, "utf8");
  server.expiresIn = 0;
  server.onRefresh = async () => {
    await rm(store.path);
    await mkdir(store.path);
  };
  const own = login();
  const first = await own.token();
  expect(warnings).toEqual([expect.stringContaining("cannot save the new token")]);
  server.onRefresh = undefined;
  await rm(store.path, { recursive: true });
  await writeFile(store.path, before, { mode: 0o600 });
  const second = await own.token();
  expect(second).not.toBe(first);
  expect((await store.readMcp(server.url))?.accessToken).toBe(second);
  expect([server.refreshes, server.reuses]).toEqual([2, 0]);
});

test("an unreachable issuer does not end the login", async () => {
  const server = await OAuthServer.open();
  const { login, store } = await open(server, 0);
  server.onRefresh = () => Promise.reject(new Error("down"));
  const own = login();
  await expect(own.token()).rejects.toThrow("its issuer sent an invalid answer");
  server.onRefresh = undefined;
  expect(await own.token()).toBe((await store.readMcp(server.url))?.accessToken);
  expect([server.refreshes, server.reuses]).toEqual([1, 0]);
});
