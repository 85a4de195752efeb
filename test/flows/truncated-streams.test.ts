import { isDeepStrictEqual } from "node:util";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import type { Event } from "../../src/messages/event.js";
import type { Provider } from "../../src/providers/provider.js";
import { defineTool } from "../../src/tools/define-tool.js";
import { truncation, summarize } from "../crash/rounds.js";
import { requestOf, user } from "../providers/requests.js";
import {
  cutModelAt,
  cutRequestText,
  type Fault,
  faults,
  forEachConcurrently,
  modelAt,
  offsetsOf,
  type RecordedStream,
  recordStream,
  serveCuts,
  twoCalls,
} from "../support/truncated-streams.js";
import { EventLog, openManager } from "../support/open-conversation.js";
import { openMock } from "../support/open-mock-llm.js";
import { type SpokenApi, wireApis } from "../support/wire-apis.js";

const ends = ["task_complete", "turn_aborted"] as const;
const wholeCalls = twoCalls.calls.map((call) => call.arguments);
const effort = "high";

describe.each(wireApis)("over $api", (spoken) => {
  test.each(faults)(
    "a turn whose answer stops with %s ends once, runs no partial call, and the next request is accepted",
    async (fault) => {
      const request = { ...requestOf([user("Note both")], ["note"]), model: spoken.model, effort };
      const stream = await recordStream(spoken, request);
      const { every, lanes } = truncation.turns[fault];
      const offsets = offsetsOf(stream, every);
      const { play, refusals } = await openCuts(spoken, stream, fault);
      const problems: string[] = [];
      await forEachConcurrently(offsets, lanes, async (offset) => {
        const found = await play(offset).catch((error: unknown) => [`threw ${String(error)}`]);
        problems.push(...found.map((problem) => `at byte ${offset}: ${problem}`));
      });
      summarize(`${spoken.api}: a turn with ${fault} at ${offsets.length} of ${stream.bytes.length + 1} offsets`);
      expect(problems).toEqual([]);
      expect(refusals).toEqual([]);
    },
    truncation.timeoutMs,
  );
});

/** Conversations whose first answer stops at a given byte; a strict server gives all other answers. */
async function openCuts(spoken: SpokenApi, stream: RecordedStream, fault: Fault) {
  const refusals: unknown[] = [];
  const strict = await openMock({
    script: { replies: [{ text: "Fine" }], afterLast: "repeat" },
    keepRequests: 0,
    onRequest: ({ status, refusal }) => void (status === 200 || refusals.push(refusal)),
  });
  const cuts = await serveCuts(stream);
  const runs = new Map<string, unknown[]>();
  const note = defineTool({
    name: "note",
    description: "Notes something",
    parameters: z.strictObject({ text: z.string(), number: z.number() }),
    run: (args, { turnId }) => {
      runs.set(turnId, [...(runs.get(turnId) ?? []), args]);
      return "noted";
    },
  });
  const { manager } = await openManager({
    providers: [onceCut(cutModelAt(spoken, cuts.url, fault), modelAt(spoken, strict.url))],
    tools: [note],
    config: { sandbox: "danger-full-access" },
    retry: { maxRetries: 1, baseDelayMs: 1, maxDelayMs: 1 },
  });

  async function play(offset: number): Promise<string[]> {
    const { conversation } = await manager.newConversation({ provider: "acme", model: spoken.model, effort });
    const events = new EventLog(conversation);
    await conversation.submit(cutRequestText(fault, offset));
    const cut = await events.untilAny(ends);
    await conversation.submit("Go on");
    const next = await events.untilAny(ends);
    await conversation.shutdown();
    await events.until("shutdown_complete");
    cuts.requests.length = 0;

    const problems = orderProblems(events.seen);
    const ran = runs.get(cut.turn_id ?? "") ?? [];
    const failure = cut.type === "task_complete" ? cut.error?.codex_error_info : cut.type;
    const isComplete = offset >= stream.completeAt;
    if (ran.length > 0 && !isComplete) problems.push(`a part of the answer ran: ${JSON.stringify(ran)}`);
    if (ran.length > 0 && !isDeepStrictEqual(ran, wholeCalls)) problems.push(`other calls ran: ${JSON.stringify(ran)}`);
    if (isComplete && fault === "end" && ran.length === 0) problems.push("the calls did not run");
    // Nothing was shown, so the request was retried; or the calls ran and their outputs were sent.
    const isFine = cut.type === "task_complete" && (cut.error ?? null) === null && cut.last_agent_message === "Fine";
    const expected = fault === "stall" ? "timeout" : "network";
    if (!isFine && failure !== expected) problems.push(`the turn ended with ${JSON.stringify(cut)}`);
    const isTaken =
      next.type === "task_complete" && (next.error ?? null) === null && next.last_agent_message === "Fine";
    if (!isTaken) problems.push(`the next turn ended with ${JSON.stringify(next)}`);
    return problems;
  }
  return { play, refusals };
}

/** A provider whose first answer in every conversation comes from one model and all others from another. */
function onceCut(cut: Provider, whole: Provider): Provider {
  const known = new Set<string>();
  return {
    name: "acme",
    stream: (request, signal) => {
      const isFirst = !known.has(request.conversationId);
      known.add(request.conversationId);
      return (isFirst ? cut : whole).stream(request, signal);
    },
  };
}

function orderProblems(seen: readonly Event[]): string[] {
  const [first] = seen;
  const gap = seen.find(({ seq }, index) => seq !== (first?.seq ?? 0) + index);
  const turns = seen.filter(({ msg }) => msg.type === "task_started");
  const ended = seen.filter(({ msg }) => ends.some((type) => type === msg.type));
  const ids = new Set(ended.map(({ msg }) => "turn_id" in msg && msg.turn_id));
  return [
    ...(gap === undefined ? [] : [`a gap before event ${gap.seq}`]),
    ...(turns.length === 2 && ended.length === 2 && ids.size === 2
      ? []
      : [`${ended.length} ends of ${turns.length} turns`]),
  ];
}
