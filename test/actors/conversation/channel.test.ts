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
