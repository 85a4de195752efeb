import type { ServerResponse } from "node:http";
import { chmod, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { CredentialResolver } from "../../../src/actors/credentials/credential-resolver.js";
import { startCredentials } from "../../../src/actors/credentials/start-credentials.js";
import { TokenStore } from "../../../src/actors/credentials/token-store.js";
import { Deferred } from "../../../src/base/time/waiting.js";
import type { CredentialsEvent } from "../../../src/messages/actors/credentials.js";
import { copyingRef } from "../../support/copying-ref.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { TokenIssuer } from "../../support/token-issuer.js";

test("tokens that a slow issuer returns after the actor timed out are saved before stop resolves", async () => {
  const issuer = await TokenIssuer.open();
  const [home, codexHome] = [await temporaryFolder(), await temporaryFolder()];
  await issuer.giveToCodex(codexHome);
  const asked = new Deferred<ServerResponse>();
  issuer.fault = (response) => asked.resolve(response);
  issuer.nowMs += 3_600_000;
  const ref = startCredentials({
    home,
    env: { CODEX_HOME: codexHome },
    logins: { chatgpt: { issuer: issuer.url } },
    now: () => issuer.nowMs,
    onEvent: () => undefined,
  });
  const resolver = new CredentialResolver(ref, { keys: { env: {} }, learn: () => undefined });
  const access = resolver.accessTo({ provider: "openai", login: "chatgpt" });
  const heard = Promise.resolve(access.credential(new AbortController().signal)).catch(() => undefined);
  const response = await asked.promise;
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const stopped = ref.stop();
  await vi.advanceTimersByTimeAsync(6_500);
  const { access: access_token, refresh: refresh_token } = issuer.issue();
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ access_token, refresh_token }));
  await stopped;
  expect(await new TokenStore(home).read("chatgpt")).toMatchObject({ refreshToken: refresh_token });
  expect(await readdir(home)).toEqual(["tokens.json"]);
  await heard;
});

const never = new AbortController().signal;

test("a resolver in another thread gets and renews tokens, and both threads learn every secret of the login", async () => {
  const issuer = await TokenIssuer.open();
  const [home, codexHome] = [await temporaryFolder(), await temporaryFolder()];
  await issuer.giveToCodex(codexHome);
  const events: CredentialsEvent[] = [];
  const ref = startCredentials({
    home,
    env: { CODEX_HOME: codexHome },
    logins: { chatgpt: { issuer: issuer.url } },
    now: () => issuer.nowMs,
    onEvent: (event) => events.push(structuredClone(event)),
  });
  onTestFinished(() => ref.stop());
  const learned: string[] = [];
  const resolver = new CredentialResolver(copyingRef(ref), {
    keys: { env: {} },
    learn: (secret) => learned.push(secret),
  });
  const access = resolver.accessTo({ provider: "openai", login: "chatgpt" });
  const token = await access.credential(never);
  if (typeof token !== "object") throw new Error("expected a login token");
  const renewed = await access.renewed?.(token, never);
  expect(learned).toEqual([token.token, renewed?.token]);
  const stored = await new TokenStore(home).read("chatgpt");
  const published = events.map((event) => (event.type === "secret_learned" ? event.secret : event.message));
  expect(published).toEqual(expect.arrayContaining([...learned, stored?.refreshToken]));
});

test("the actor starts for a key in the keyring, not for a key in the environment", async () => {
  const folder = await temporaryFolder();
  const program = process.platform === "darwin" ? "security" : "secret-tool";
  await writeFile(join(folder, program), "#!/bin/sh\nprintf sk-of-the-keyring\n");
  await chmod(join(folder, program), 0o755);
  const env = { PATH: `${folder}:${process.env["PATH"]}`, OPENAI_API_KEY: "sk-of-the-environment" };
  const ref = startCredentials({ home: folder, env, logins: {}, now: Date.now, onEvent: () => undefined });
  onTestFinished(() => ref.stop());
  const ops: string[] = [];
  const learned: string[] = [];
  const copying = copyingRef(ref);
  const resolver = new CredentialResolver(
    {
      ...copying,
      ask: (op, signal) => {
        ops.push(op.type);
        return copying.ask(op, signal);
      },
    },
    { keys: { env, providers: { lab: { keyring: true } } }, learn: (secret) => learned.push(secret) },
  );
  expect(await resolver.accessTo({ provider: "openai" }).credential(never)).toBe("sk-of-the-environment");
  expect(ops).toEqual([]);
  expect(await resolver.accessTo({ provider: "lab" }).credential(never)).toBe("sk-of-the-keyring");
  expect([ops, learned]).toEqual([["kept_key"], ["sk-of-the-keyring"]]);
});
