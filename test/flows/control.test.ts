import { once } from "node:events";
import { mkdir, readdir, stat, writeFile } from "node:fs/promises";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import type { ManagerOptions } from "../../src/actors/conversation/open/manager-options.js";
import { ControlClient, type ReceivedEvent } from "../../src/control/control-client.js";
import type { EventMsg } from "../../src/messages/event.js";
import { defineTool } from "../../src/tools/define-tool.js";
import { version } from "../../src/version.js";
import { Random } from "../crash/random.js";
import { firstSeed, interleavings } from "../crash/rounds.js";
import { openConversation } from "../support/open-conversation.js";
import { ownSockets } from "../support/own-sockets.js";
import { rolloutLines } from "../support/rollout-lines.js";
import { beginsAndHangs, calls, says, scripted, type Reply } from "../support/scripted-provider.js";
import { temporaryFolder } from "../support/temporary-folder.js";

/** A conversation in a process that listens; `connect` is what another process does. */
async function listening(replies: Iterable<Reply>, options: ManagerOptions = {}) {
  const env = { XDG_RUNTIME_DIR: await temporaryFolder() };
  const provider = scripted(replies);
  const opened = await openConversation({ provider, env, control: true, idleAfter: Infinity, ...options });
  const paths = async (): Promise<string[]> => {
    for (;;) {
      const found = await ownSockets(env);
      if (found.length > 0) return found;
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const [path = ""] = await paths();
  const open = async (): Promise<ControlClient> => {
    const client = await ControlClient.connect(path);
    onTestFinished(() => client.close());
    return client;
  };
  return { ...opened, provider, env, path, connect: open };
}

/** Reads events in the background. */
class Follower {
  readonly seen: ReceivedEvent[] = [];
  readonly #events: AsyncIterableIterator<ReceivedEvent>;

  constructor(events: AsyncIterableIterator<ReceivedEvent>) {
    this.#events = events;
  }

  async until(...types: readonly EventMsg["type"][]): Promise<ReceivedEvent> {
    for (;;) {
      const { value, done } = await this.#events.next();
      if (done === true || value === undefined) throw new Error(`the events ended before ${types.join(", ")}`);
      this.seen.push(value);
      if (types.includes(value.event.msg.type)) return value;
    }
  }

  async toEnd(): Promise<void> {
    for await (const event of { [Symbol.asyncIterator]: () => this.#events }) this.seen.push(event);
  }
}

async function follow(client: ControlClient, conversationId: string, since?: string): Promise<Follower> {
  return new Follower((await client.events(conversationId, since)).events);
}

const text = (words: string) => [{ type: "text" as const, text: words }];

const effect = defineTool({
  name: "effect",
  description: "",
  parameters: z.strictObject({ number: z.number().optional() }),
  command: (_, { cwd }) => ({ argv: ["effect"], cwd }),
  run: () => "done",
});

test("another process sees the open conversations, sends a message, and follows its turn", async () => {
  const { connect: open, conversationId } = await listening([says("hello")]);
  const client = await open();
  expect(client.welcome).toMatchObject({ version, pid: process.pid, kind: "library" });
  expect(await client.list()).toMatchObject([
    { conversation_id: conversationId, state: "idle", model: "scripted", tokens: 0, turns: 0, approvals: [] },
  ]);
  const events = await follow(client, conversationId);
  const op = { type: "queue" as const, items: text("hi"), key: "k" };
  const sent = await client.ask({ type: "submit", conversation_id: conversationId, op });
  expect(sent.status).toBe("accepted");
  const { event } = await events.until("task_complete");
  expect(event).toMatchObject({ id: sent.submission_id, msg: { last_agent_message: "hello", saved: true } });
  const again = await client.ask({ type: "submit", conversation_id: conversationId, op });
  expect(again).toMatchObject({ status: "duplicate", submission_id: sent.submission_id });
  expect(await client.list()).toMatchObject([{ state: "idle", tokens: 15, turns: 1 }]);
});

test("events continue after the last one that was seen, and numbers of another opening start again", async () => {
  const { connect: open, conversation, conversationId } = await listening([says("one"), says("two")]);
  await conversation.processMessage("first");
  const first = await follow(await open(), conversationId, "0");
  const { eventId } = await first.until("task_complete");
  expect(first.seen[0]?.event.msg.type).toBe("session_configured");
  const turn = conversation.processMessage("second");
  const second = await follow(await open(), conversationId, eventId);
  await second.until("task_complete");
  await turn;
  expect(second.seen[0]?.event).toMatchObject({ seq: (first.seen.at(-1)?.event.seq ?? 0) + 1 });
  const unknown = await follow(await open(), conversationId, "00000000-7");
  await unknown.until("task_complete");
  expect(unknown.seen[0]?.event.seq).toBe(0);
  const client = await open();
  await expect(client.events(conversationId, "yesterday")).rejects.toThrow("since: expected the id of an event");
});

test("stop interrupts the turn and drops what waits; the events end with the conversation", async () => {
  const { connect: open, conversation, conversationId, events } = await listening([beginsAndHangs("…")]);
  const client = await open();
  const follower = await follow(client, conversationId);
  await conversation.submit("go");
  await events.until("agent_message_delta");
  await conversation.queue("later");
  await conversation.steer("now");
  const conversation_id = conversationId;
  expect(await client.ask({ type: "stop", conversation_id })).toMatchObject({ interrupted: true, withdrawn: 2 });
  await follower.until("turn_aborted");
  expect(await client.ask({ type: "stop", conversation_id })).toMatchObject({ interrupted: false, withdrawn: 0 });
  await conversation.shutdown();
  await follower.toEnd();
  expect(follower.seen.at(-1)?.event.msg.type).toBe("shutdown_complete");
  expect(await client.list()).toEqual([]);
  await expect(client.ask({ type: "stop", conversation_id })).rejects.toThrow("is not open in this process");
});

test("the first answer to an approval request counts", async () => {
  const {
    connect: open,
    conversation,
    conversationId,
    events,
  } = await listening([calls("effect", "c1"), says("done")], { tools: [effect] });
  await conversation.submit("go");
  const { approval_id } = await events.until("exec_approval_request");
  const clients = [await open(), await open()];
  expect(await clients[0]?.list()).toMatchObject([{ state: "needs_approval", approvals: [{ approval_id }] }]);
  const answer = { type: "answer_approval", conversation_id: conversationId, approval_id } as const;
  const answers = await Promise.allSettled(clients.map((client) => client.ask({ ...answer, decision: "approved" })));
  expect(answers.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  await events.until("task_complete");
  const decided = (await rolloutLines(conversation.rolloutPath)).filter(
    ({ payload }) => payload["type"] === "approval_decided",
  );
  expect(decided).toHaveLength(1);
});

test("the socket and its folder are for this user only, and both are gone after the shutdown", async () => {
  const { manager, path, env } = await listening([]);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect((await stat(join(env.XDG_RUNTIME_DIR, "cody"))).mode & 0o777).toBe(0o700);
  await manager.shutdown();
  expect(await ownSockets(env)).toEqual([]);
});

test("without control nobody can connect", async () => {
  const env = { XDG_RUNTIME_DIR: await temporaryFolder() };
  const { conversation } = await openConversation({ provider: scripted([says("hello")]), env });
  await conversation.processMessage("hi");
  expect(await ownSockets(env)).toEqual([]);
});

test("the socket of a dead process is removed, and other files are left alone", async () => {
  const env = { XDG_RUNTIME_DIR: await temporaryFolder() };
  const folder = join(env.XDG_RUNTIME_DIR, "cody");
  await mkdir(folder, { mode: 0o700 });
  const dead = join(folder, "2147483646.control-00000000.sock");
  const server = createServer().listen(dead);
  await once(server, "listening");
  // Its name is that of a process that does not exist; nobody answers once the server is closed.
  const kept = join(folder, "1.control-00000001.sock");
  await writeFile(kept, "not a socket");
  expect(await ownSockets(env)).toEqual([dead]);
  const left = join(folder, "2147483646.control-00000002.sock");
  await new Promise((resolve) => server.close(resolve));
  await leaveSocket(left);
  expect(await ownSockets(env)).toEqual([]);
  expect(await readdir(folder)).toEqual(["1.control-00000001.sock"]);
});

/** A socket whose listener was killed. */
async function leaveSocket(path: string): Promise<void> {
  const { spawn } = await import("node:child_process");
  const program = `require("net").createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 9))`;
  await once(spawn(process.execPath, ["-e", program]), "close");
}

test.each([
  {
    what: "another version",
    sent: '{"type":"hello","protocol":2,"version":"9.0.0"}\n',
    answer: /has version 1 of the control protocol, not version 2/,
  },
  { what: "no hello", sent: '{"id":1,"type":"list"}\n', answer: /expected a hello/ },
  { what: "no JSON", sent: "GET / HTTP/1.1\r\n\r\n", answer: /expected a hello/ },
  {
    what: "an unknown request",
    sent: `{"type":"hello","protocol":1,"version":"${version}"}\n{"id":1,"type":"format_disk"}\n`,
    answer: /request: type/,
  },
])("a client that sends $what gets an error and is disconnected", async ({ sent, answer }) => {
  const { path, connect: open, conversationId } = await listening([]);
  const socket = connect({ path });
  socket.write(sent);
  const lines: string[] = [];
  for await (const line of createInterface({ input: socket })) lines.push(line);
  expect(JSON.parse(lines.at(-1) ?? "")).toEqual({ type: "refused", message: expect.stringMatching(answer) as string });
  // Others are still served.
  expect(await (await open()).list()).toMatchObject([{ conversation_id: conversationId }]);
});

function refuse(socket: Socket): void {
  socket.end('{"type":"refused","message":"use the same cody"}\n');
}

test("a process of another version is reported, not asked", async () => {
  const folder = await temporaryFolder();
  const path = join(folder, "other.sock");
  const server = createServer(refuse).listen(path);
  onTestFinished(() => void server.close());
  await once(server, "listening");
  await expect(ControlClient.connect(path)).rejects.toThrow("use the same cody");
});

test("a client that never reads does not delay the turn, nor the shutdown for long", async () => {
  const { path, manager, conversation, conversationId } = await listening([says("x".repeat(3_000_000)), says("two")]);
  const socket = connect({ path });
  socket.write(`{"type":"hello","protocol":1,"version":"${version}"}\n`);
  socket.write(`{"id":1,"type":"events","conversation_id":"${conversationId}"}\n`);
  await once(socket, "readable");
  await conversation.processMessage("one");
  expect(await conversation.processMessage("two")).toHaveLength(2);
  await manager.shutdown();
  socket.destroy();
});

test(
  "two terminals and a script see the same events in the same order, and each request gets one decision",
  { timeout: interleavings.timeoutMs },
  async () => {
    const seed = firstSeed();
    let decisions = 0;
    for (let round = 0; round < interleavings.count; round += 1) {
      try {
        decisions += await interleave(new Random(seed + round));
      } catch (error) {
        throw new Error(`failed with CODY_CRASH_SEED=${seed + round}`, { cause: error });
      }
    }
    expect(decisions).toBeGreaterThan(0);
  },
);

/** The script of the model: calls that need approval, and answers, for as long as the turns go on. */
function* repliesOf(random: Random): Generator<Reply> {
  for (let n = 1; ; n += 1)
    yield n === 1 || random.whole(1, 2) === 1 ? calls("effect", `c${n}`, { number: n }) : says(`answer ${n}`);
}

/** Returns the number of decisions. */
async function interleave(random: Random): Promise<number> {
  const {
    manager,
    conversation,
    conversationId: conversation_id,
    connect: open,
  } = await listening(repliesOf(random), {
    tools: [effect],
  });
  const clients = [await open(), await open(), await open()];
  const accepted = new Set<string>();
  const answered: string[] = [];
  const rest = async (): Promise<void> => {
    for (let wait = random.whole(0, 40); wait > 0; wait -= 1) await new Promise((resolve) => setImmediate(resolve));
  };
  const submit = async (client: ControlClient, type: "steer" | "queue", key?: string): Promise<string> => {
    const op = { type, items: text("a message"), ...(key === undefined ? {} : { key }) };
    const { submission_id } = await client.ask({ type: "submit", conversation_id, op });
    accepted.add(submission_id);
    return submission_id;
  };
  const answer = async (client: ControlClient, approval_id: string): Promise<void> => {
    await rest();
    const decision = random.whole(1, 2) === 1 ? "approved" : "denied";
    await client.ask({ type: "answer_approval", conversation_id, approval_id, decision }).then(
      () => answered.push(approval_id),
      () => undefined,
    );
  };
  /** Reads all events, and answers each request, as the others do. */
  const read = async (client: ControlClient): Promise<ReceivedEvent[]> => {
    const seen: ReceivedEvent[] = [];
    for await (const received of (await client.events(conversation_id, "0")).events) {
      const { msg } = received.event;
      if (msg.type === "exec_approval_request") void answer(client, msg.approval_id);
      if (!isDelta(msg)) seen.push(received);
    }
    return seen;
  };
  /** What each of them does at random moments. */
  const play = async (client: ControlClient): Promise<void> => {
    for (let step = random.whole(1, 6); step > 0; step -= 1) {
      await rest();
      const act = random.whole(1, 8);
      if (act <= 3) await submit(client, "steer");
      else if (act <= 6) await submit(client, "queue", random.whole(1, 2) === 1 ? "the same" : undefined);
      else await client.ask({ type: "stop", conversation_id });
    }
  };
  const reading = Promise.all(clients.map(read));
  const turns = conversation.events({ since: "now" });
  await Promise.all(clients.map(play));
  const [client] = clients;
  if (client === undefined) throw new Error("nobody is connected");
  const last = await submit(client, "queue", "the last");
  for await (const { id, msg } of turns) if (id === last && msg.type === "task_complete") break;
  await conversation.shutdown();
  const [first = [], ...others] = await reading;
  for (const other of others) expect(other).toEqual(first);
  expect(first.at(-1)?.event.msg.type).toBe("shutdown_complete");
  await expectConsistent(first, { accepted, answered, rolloutPath: conversation.rolloutPath });
  await manager.shutdown();
  return answered.length;
}

function isDelta({ type }: EventMsg): boolean {
  return type.endsWith("_delta");
}

async function expectConsistent(
  events: readonly ReceivedEvent[],
  found: {
    readonly accepted: ReadonlySet<string>;
    readonly answered: readonly string[];
    readonly rolloutPath: string | null;
  },
): Promise<void> {
  // Every accepted message was used once, or its refusal was reported.
  const ends = events.flatMap(({ event: { id, msg } }) =>
    found.accepted.has(id) && (msg.type === "user_message" || msg.type === "error") ? [id] : [],
  );
  expect(ends.toSorted()).toEqual([...found.accepted].toSorted());
  // One answer was confirmed for each request at most, and the file has one decision for each that was confirmed.
  expect(new Set(found.answered).size).toBe(found.answered.length);
  const records = (await rolloutLines(found.rolloutPath)).filter(
    ({ payload }) => payload["type"] === "approval_decided",
  );
  const decided = records.map(({ payload }) => String(payload["approval_id"]));
  expect(new Set(decided).size).toBe(decided.length);
  expect(decided).toEqual(expect.arrayContaining([...found.answered]));
}
