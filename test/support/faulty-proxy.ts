import { setImmediate } from "node:timers/promises";
import type { ServerResponse } from "node:http";
import { expect } from "vitest";
import * as z from "zod";
import type { RetryPolicy } from "../../src/base/time/retry.js";
import type { MockLlm } from "../../src/mock-llm/server.js";
import type { MockReply } from "../../src/mock-llm/script.js";
import { createTransport, type TransportOptions } from "../../src/providers/transport/node-transport.js";
import type { Provider } from "../../src/providers/provider.js";
import { wireProvider } from "../../src/providers/wire-provider.js";
import { defineTool } from "../../src/tools/define-tool.js";
import { begin, type Loopback, serve } from "../providers/loopback.js";
import { EventLog, openManager } from "./open-conversation.js";
import { mockKey, mockLlm, type SpokenApi } from "./wire-apis.js";

/** Changes one answer of the strict server on its way to cody. */
export type AnswerFault = (response: ServerResponse, answer: Buffer) => void | Promise<void>;

/** A proxy between cody and the strict server: the first answers get one fault each, the others arrive unchanged. */
export async function faultyProxy({ url }: MockLlm, faults: readonly AnswerFault[]): Promise<Loopback> {
  const left = faults.values();
  return await serve(async (response, { path, headers, body }) => {
    const sent = Object.entries(headers).filter(([name]) => !/^(?:host|connection|content-length)$/.test(name));
    const answer = await fetch(`${url}${path}`, { method: "POST", headers: sent as [string, string][], body });
    const bytes = Buffer.from(await answer.arrayBuffer());
    const fault = answer.status === 200 ? left.next().value : undefined;
    if (fault !== undefined) return await fault(response, bytes);
    response.writeHead(
      answer.status,
      [...answer.headers].filter(([name]) => /^(?:content-type|retry-after)$/.test(name)).flat(),
    );
    response.end(bytes);
  });
}

/** Long enough for a turn while many tests run at once; tests of stalls set their own timeout. */
const patienceMs = 600;

export function modelOver(
  spoken: SpokenApi,
  baseUrl: string,
  options: TransportOptions & { readonly idleMs?: number } = {},
): Provider {
  const transport = createTransport({}, options);
  return wireProvider({
    provider: "acme",
    api: spoken.api,
    baseUrl,
    transport: () => Promise.resolve(transport),
    credential: () => mockKey,
    ...(options.idleMs === undefined ? {} : { idleMs: options.idleMs }),
  });
}

export function addressOf(spoken: SpokenApi, url: string): string {
  return spoken.provider === "openai" ? `${url}/v1` : url;
}

const ends = ["task_complete", "turn_aborted"] as const;

/** A conversation whose model answers through a faulty proxy, with a tool that records its arguments. */
export async function openFaulty(
  spoken: SpokenApi,
  replies: readonly MockReply[],
  faults: readonly AnswerFault[],
  options: { readonly idle?: "short"; readonly retry?: RetryPolicy } = {},
) {
  const mock = await mockLlm(replies);
  const line = await faultyProxy(mock, faults);
  const noted: unknown[] = [];
  const note = defineTool({
    name: "note",
    description: "Notes something",
    parameters: z.strictObject({ text: z.string() }),
    run: (args) => {
      noted.push(args);
      return "noted";
    },
  });
  const { manager } = await openManager({
    providers: [
      modelOver(spoken, addressOf(spoken, line.url), options.idle === undefined ? {} : { idleMs: patienceMs }),
    ],
    tools: [note],
    config: { sandbox: "danger-full-access" },
    retry: options.retry ?? { maxRetries: 2, baseDelayMs: 1, maxDelayMs: 5 },
  });
  const { conversation } = await manager.newConversation({ provider: "acme", model: spoken.model, effort: "high" });
  const events = new EventLog(conversation);
  /** Plays a turn and returns its outcome. */
  const play = async (text: string) => {
    const from = events.seen.length;
    await conversation.submit(text);
    const end = await events.untilAny(ends);
    const seen = events.seen.slice(from).map(({ msg }) => msg);
    return {
      said: end.type === "task_complete" && !end.error ? end.last_agent_message : null,
      failure: end.type === "task_complete" ? (end.error?.codex_error_info ?? null) : end.type,
      message: end.type === "task_complete" ? (end.error?.message ?? "") : "",
      retries: seen.flatMap((msg) => (msg.type === "stream_error" ? [msg.codex_error_info] : [])),
      shown: seen.flatMap((msg) => (msg.type === "agent_message_delta" ? [msg.delta] : [])).join(""),
      ends: seen.filter(({ type }) => ends.some((one) => one === type)).length,
    };
  };
  /** Checks that the next turn is answered, and that the strict server has accepted every request. */
  const expectNextTaken = async (said: string) => {
    expect(await play("And now?")).toMatchObject({ said, failure: null, retries: [], shown: said });
    expect(mock.requests.flatMap(({ refusal, fault }) => (fault === undefined && refusal ? [refusal] : []))).toEqual(
      [],
    );
  };
  return { mock, line, manager, conversation, events, noted, play, expectNextTaken };
}

/** Replaces the whole answer. */
export function changed(change: (answer: string) => string | Uint8Array): AnswerFault {
  return (response, answer) => {
    begin(response, change(answer.toString()));
    response.end();
  };
}

/** Resets the connection after part of the answer; `place` returns the number of bytes sent before that. */
export function resetAt(place: (answer: Buffer) => number): AnswerFault {
  return async (response, answer) => {
    begin(response, answer.subarray(0, place(answer)));
    // A reset discards bytes that were not read yet, so let the reader in this process run first.
    for (let turns = 0; turns < 5; turns += 1) await setImmediate();
    response.socket?.resetAndDestroy();
  };
}

/** Sends the answer in packets of this many bytes. */
export function inPackets(size: number): AnswerFault {
  return async (response, answer) => {
    begin(response);
    for (let at = 0; at < answer.length; at += size) {
      response.write(answer.subarray(at, at + size));
      await setImmediate();
    }
    response.end();
  };
}
