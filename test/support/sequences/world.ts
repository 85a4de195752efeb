import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { ConversationManager } from "../../../src/manager.js";
import type { MockReply } from "../../../src/mock-llm/script.js";
import { asksForSummary } from "../compacting.js";
import { openMock } from "../open-mock-llm.js";
import { temporaryFolder } from "../temporary-folder.js";
import { type SequenceHome, sequenceManager } from "./manager.js";

/** A home and the manager that uses it. */
export interface Side extends SequenceHome {
  readonly manager: ConversationManager;
}

/** The environment in which sequences are played one after another. */
export interface SequenceWorld {
  /** After a crash a conversation continues on the other side; the manager of this side is discarded. */
  readonly sides: readonly [Side, Side];
  /** The next replies of the server; `fine` when the list is empty. */
  readonly replies: MockReply[];
  /** Why requests were refused that the script did not refuse. */
  readonly refusals: string[];
  readonly counts: {
    requests: number;
    turns: number;
    crashes: number;
    kills: number;
    switches: number;
    compactions: number;
  };
}

export const fine = "Fine";

export async function openSequenceWorld(): Promise<SequenceWorld> {
  const replies: MockReply[] = [];
  const refusals: string[] = [];
  const counts = { requests: 0, turns: 0, crashes: 0, kills: 0, switches: 0, compactions: 0 };
  const { url } = await openMock({
    replies: (_, request) =>
      asksForSummary(request()) ? { text: "They did things." } : (replies.shift() ?? { text: fine }),
    keepRequests: 0,
    onRequest: ({ api, status, refusal, fault, body }) => {
      counts.requests += 1;
      if (status === 200 || fault !== undefined) return;
      refusals.push(`${api} refused with ${status}: ${refusal}\n${JSON.stringify(body)}`);
    },
  });
  const runtimeDirectory = await temporaryFolder();
  return {
    sides: [await openSide(url, runtimeDirectory), await openSide(url, runtimeDirectory)],
    replies,
    refusals,
    counts,
  };
}

async function openSide(url: string, runtimeDirectory: string): Promise<Side> {
  const home = await temporaryFolder();
  await mkdir(join(home, "conversations"));
  const place = { home, runtimeDirectory, url };
  const manager = sequenceManager(place);
  onTestFinished(() => manager.shutdown());
  return { ...place, manager };
}
