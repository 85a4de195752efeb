import type { ServerResponse } from "node:http";
import { readdir } from "node:fs/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { CredentialResolver } from "../../../src/actors/credentials/credential-resolver.js";
import { TokenStore } from "../../../src/actors/credentials/token-store.js";
import { Deferred } from "../../../src/base/time/waiting.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { TokenIssuer } from "../../support/token-issuer.js";

test("tokens that a slow issuer returns after the actor timed out are saved before stop resolves", async () => {
  const issuer = await TokenIssuer.open();
  const [home, codexHome] = [await temporaryFolder(), await temporaryFolder()];
  await issuer.giveToCodex(codexHome);
  const asked = new Deferred<ServerResponse>();
  issuer.fault = (response) => asked.resolve(response);
  issuer.nowMs += 3_600_000;
  const resolver = new CredentialResolver({
    home,
    env: { CODEX_HOME: codexHome },
    config: { logins: { chatgpt: { issuer: issuer.url } } },
    now: () => issuer.nowMs,
    warn: () => undefined,
    learn: () => undefined,
  });
  const access = resolver.accessTo({ provider: "openai", login: "chatgpt" });
  const heard = Promise.resolve(access.credential(new AbortController().signal)).catch(() => undefined);
  const response = await asked.promise;
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const stopped = resolver.stop();
  await vi.advanceTimersByTimeAsync(6_500);
  const { access: access_token, refresh: refresh_token } = issuer.issue();
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ access_token, refresh_token }));
  await stopped;
  expect(await new TokenStore(home).read("chatgpt")).toMatchObject({ refreshToken: refresh_token });
  expect(await readdir(home)).toEqual(["tokens.json"]);
  await heard;
});
