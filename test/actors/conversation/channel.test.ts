import { expect, test } from "vitest";
import {
  ConversationChannel,
  type ConversationLink,
  type EventSink,
} from "../../../src/actors/conversation/channel.js";
import type { MirrorChange } from "../../../src/messages/actors/conversation.js";

const turnId = "turn-1";

const opened: Extract<MirrorChange, { type: "opened" }> = {
  type: "opened",
  rolloutPath: "/rollout.jsonl",
  pinned: false,
  settings: {
    provider: "none",
    model: "none",
    cwd: "/",
    approvalPolicy: "never",
    sandbox: "read-only",
    effort: null,
    summary: "auto",
  },
  turns: 1,
  usage: null,
  openTurn: turnId,
  unapprovedCalls: [],
  prompt: "",
};

const link: ConversationLink = {
  ref: { tell: async (_op, id = "") => id, ask: async () => undefined as never, stop: async () => undefined },
  state: () => {
    throw new Error("not read");
  },
  close: async () => undefined,
};

test("a turn whose end was lost before it was written ends once for its readers", async () => {
  const sinks: EventSink[] = [];
  /** Every opening finds the open turn in the file and ends it. */
  const open = async (sink: EventSink): Promise<ConversationLink> => {
    sinks.push(sink);
    sink.publish({ type: "mirror", change: opened }, "");
    if (sinks.length > 1) sink.publish({ type: "turn_aborted", turn_id: turnId, reason: "interrupted" }, turnId);
    return link;
  };
  const channel = new ConversationChannel("conv_1", {
    onEvent: () => undefined,
    onRun: () => undefined,
    onAsleep: () => undefined,
    onEnd: () => undefined,
    reopen: (_channel, _request, sink) => open(sink),
    openServers: async () => undefined,
  });
  const reader = channel.reader({ since: 0 });
  await channel.open(open);
  for (let death = 0; death < 3; death += 1) {
    sinks.at(-1)?.lost();
    await channel.wake();
  }
  expect(sinks).toHaveLength(4);
  expect(channel.mirror.openTurn).toBeUndefined();
  await channel.shutdown();
  const types: string[] = [];
  for await (const { msg } of reader) types.push(msg.type);
  expect(types).toEqual(["turn_aborted"]);
});

test("an answer to an approval request that was lost before it was written is sent again", async () => {
  const sinks: EventSink[] = [];
  const answers: unknown[] = [];
  const request = {
    call_id: "call-1",
    approval_id: "approval-1",
    turn_id: turnId,
    tool: "shell",
    command: ["true"],
    cwd: "/",
  };
  /** Every opening finds the request in the file, without an answer. */
  const open = async (sink: EventSink): Promise<ConversationLink> => {
    sinks.push(sink);
    sink.publish({ type: "mirror", change: { ...opened, unapprovedCalls: ["call-1"] } }, "");
    sink.publish({ type: "exec_approval_request", ...request }, turnId);
    return {
      ...link,
      ref: {
        ...link.ref,
        tell: async (op, id = "") => {
          answers.push(op);
          return id;
        },
        ask: async () => ({ status: "answered" }) as never,
      },
    };
  };
  const channel = new ConversationChannel("conv_1", {
    onEvent: () => undefined,
    onRun: () => undefined,
    onAsleep: () => undefined,
    onEnd: () => undefined,
    reopen: (_channel, _request, sink) => open(sink),
    openServers: async () => undefined,
  });
  const reader = channel.reader({ since: 0 });
  await channel.open(open);
  const answer = { type: "exec_approval" as const, id: "call-1", decision: "approved" as const };
  expect(await channel.decide(answer)).toMatchObject({ answer: { status: "answered" } });
  sinks.at(-1)?.lost();
  await channel.wake();
  expect(answers).toEqual([answer]);
  await channel.shutdown();
  const types: string[] = [];
  for await (const { msg } of reader) types.push(msg.type);
  expect(types).toEqual(["exec_approval_request"]);
});
