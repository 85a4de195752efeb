import { readdir, readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import type { AskerOrder, AskerMessage } from "../support/children/asker.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { TokenIssuer } from "../support/token-issuer.js";
import { Child } from "./child.js";
import { expiries, summarize, timeoutMs } from "./rounds.js";

const hourMs = 3_600_000;

/** A user logged in with Codex, and several cody processes that use the login. */
async function askers(count: number) {
  const issuer = await TokenIssuer.open();
  const [home, codexHome] = [await temporaryFolder(), await temporaryFolder()];
  const authFile = await issuer.giveToCodex(codexHome);
  const order: AskerOrder = { home, codexHome, issuer: issuer.url, conversations: 2, nowMs: issuer.nowMs };
  const start = async (): Promise<Child> => {
    const child = new Child("children/asker", order);
    await child.until(({ type }) => type === "ready");
    return child;
  };
  return { issuer, home, authFile, start, children: await Promise.all(Array.from({ length: count }, start)) };
}

/** Lets all processes ask at once; returns the answers they got. */
async function ask(issuer: TokenIssuer, children: readonly Child[], round: number): Promise<(string | undefined)[]> {
  for (const child of children) child.say({ round, nowMs: issuer.nowMs } satisfies AskerMessage);
  const reports = await Promise.all(children.map((child) => child.until((report) => report.round === round)));
  return reports.map(({ type, message }) => (type === "answered" ? undefined : message));
}

test(
  "processes sharing a login renew each expired token once, and none of them is logged out",
  async () => {
    const { issuer, home, authFile, children } = await askers(expiries.processes);
    const before = await readFile(authFile, "utf8");
    const refusals: (string | undefined)[] = await ask(issuer, children, 0);
    for (let round = 1; round <= expiries.rounds; round += 1) {
      // The token has expired, or the server has revoked it before that.
      if (round % 2 === 0) issuer.nowMs += hourMs;
      else issuer.endAccess();
      refusals.push(...(await ask(issuer, children, round)));
      expect(issuer.refreshes).toBe(round);
    }
    await Promise.all(children.map((child) => child.end()));
    expect(refusals.filter((message) => message !== undefined)).toEqual([]);
    expect({ refreshes: issuer.refreshes, reuses: issuer.reuses, isRevoked: issuer.isRevoked }).toEqual({
      refreshes: expiries.rounds,
      reuses: 0,
      isRevoked: false,
    });
    expect(await readFile(authFile, "utf8")).toBe(before);
    expect(await readdir(home)).toEqual(["tokens.json"]);
    summarize(
      `tokens: ${expiries.processes} processes with 2 conversations each, ${expiries.rounds} expiries, ` +
        `${issuer.refreshes} refreshes, ${issuer.reuses} used twice, ${refusals.filter(Boolean).length} logouts`,
    );
  },
  timeoutMs,
);

test(
  "a process that dies while renewing a token leaves the login usable for the others, and no lock",
  async () => {
    const { issuer, home, children, start } = await askers(2);
    const [dying, other] = children;
    await ask(issuer, children, 0);
    const asked = new Promise<void>((resolve) => {
      issuer.fault = () => resolve();
    });
    issuer.nowMs += hourMs;
    dying?.say({ round: 1, nowMs: issuer.nowMs } satisfies AskerMessage);
    await asked;
    await dying?.kill();
    issuer.fault = undefined;
    expect(await ask(issuer, other === undefined ? [] : [other, await start()], 2)).toEqual([undefined, undefined]);
    await other?.end();
    expect([issuer.refreshes, issuer.isRevoked]).toEqual([1, false]);
    expect((await readdir(home)).filter((name) => name.endsWith(".lock"))).toEqual([]);
  },
  timeoutMs,
);

test(
  "a renewed token lost with its process costs one login, and the error asks for it",
  async () => {
    const { issuer, children, authFile, start } = await askers(2);
    const [dying, other] = children;
    await ask(issuer, children, 0);
    const asked = new Promise<void>((resolve) => {
      // The server has issued new tokens, but the answer never arrives.
      issuer.fault = () => {
        issuer.issue();
        resolve();
      };
    });
    issuer.nowMs += hourMs;
    dying?.say({ round: 1, nowMs: issuer.nowMs } satisfies AskerMessage);
    await asked;
    await dying?.kill();
    issuer.fault = undefined;
    const others = other === undefined ? [] : [other];
    const said = "openai: the ChatGPT login is no longer valid (refresh_token_reused). Run: cody login";
    expect(await ask(issuer, others, 2)).toEqual([said]);
    await issuer.giveToCodex(authFile.slice(0, authFile.lastIndexOf("/")));
    expect(await ask(issuer, [...others, await start()], 3)).toEqual([undefined, undefined]);
  },
  timeoutMs,
);
