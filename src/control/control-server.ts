import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chmod, rm } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { errorMessage } from "../base/error-message.js";
import type { Conversation, SubmittedInput } from "../actors/conversation/handle.js";
import { ConversationError, InvalidInputError } from "../base/errors.js";
import { check } from "../base/parse.js";
import { systemProblem } from "../base/system-error.js";
import {
  ControlHello,
  controlProtocol,
  type ControlReply,
  ControlRequest,
  type ControlWelcome,
  type RunningConversation,
  type RunningState,
} from "../messages/control.js";
import { FailureError } from "../messages/failure-error.js";
import type { FailureCode } from "../messages/failure.js";
import type { Op } from "../messages/submission.js";
import { version } from "../version.js";
import { newControlSocket } from "./control-sockets.js";
import { MessageLines } from "./message-lines.js";

/** A request can contain images. */
const maxRequestBytes = 64 * 1024 * 1024;

const maxClients = 64;

/** Streams of events of one client at once. */
const maxSubscriptions = 64;

/** A client that has not said hello by then is disconnected. */
const helloMs = 5_000;

const maxListed = 1_000;

/** The conversations that a control socket gives access to. */
export interface ControlledConversations {
  /** The open ones. */
  all(): readonly Conversation[];
  get(conversationId: string): Conversation | undefined;
  /** Opens a saved one; absent in a process that does not open conversations for others. */
  open?(request: Extract<ControlRequest, { type: "open" }>): Promise<Conversation>;
  /** Ends the process; absent in one that others may not end. */
  shutdown?(): void;
}

export interface ControlOptions extends Pick<ControlWelcome, "kind" | "home"> {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly conversations: ControlledConversations;
  readonly now: () => number;
}

/** The server's own facts about one opening of a conversation. */
interface Known {
  readonly openedAt: number;
  /** Makes event numbers of different openings different. */
  readonly epoch: string;
}

/** Lets other processes of the same user see the conversations of this one and talk to them, over a unix socket. */
export class ControlServer {
  readonly #options: ControlOptions;
  readonly #startedAt: number;
  readonly #known = new WeakMap<Conversation, Known>();
  readonly #clients = new Set<Client>();
  readonly #server: Server;
  #path: string | undefined;

  private constructor(options: ControlOptions) {
    this.#options = options;
    this.#startedAt = options.now();
    this.#server = createServer((socket) => this.#accept(socket));
    // The socket alone must not keep the process alive.
    this.#server.unref();
  }

  static async start(options: ControlOptions): Promise<ControlServer> {
    const server = new ControlServer(options);
    const path = await newControlSocket(options.env);
    server.#server.listen(path);
    await once(server.#server, "listening");
    server.#path = path;
    // The folder already keeps other users out.
    await chmod(path, 0o600);
    return server;
  }

  /** Notes the time at which a conversation was opened. */
  opened(conversation: Conversation): void {
    this.#knownOf(conversation);
  }

  async close(): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    for (const client of this.#clients) client.end();
    await closed;
    if (this.#path !== undefined) await rm(this.#path, { force: true });
  }

  #accept(socket: Socket): void {
    socket.unref();
    const lines = new MessageLines(socket, maxRequestBytes);
    if (this.#clients.size >= maxClients) {
      void refuse(lines, `${maxClients} clients are connected already; try again later`);
      return;
    }
    const client = new Client(lines, {
      conversations: this.#options.conversations,
      describe: (conversation) => this.#describe(conversation),
      epoch: (conversation) => this.#knownOf(conversation).epoch,
      welcome: () => this.#welcome(),
    });
    this.#clients.add(client);
    void client.serve().finally(() => {
      client.close();
      this.#clients.delete(client);
    });
  }

  #welcome(): ControlWelcome {
    const { kind, home } = this.#options;
    const startedAt = this.#startedAt;
    return {
      type: "welcome",
      protocol: controlProtocol,
      version,
      pid: process.pid,
      kind,
      home,
      started_at: startedAt,
    };
  }

  #knownOf(conversation: Conversation): Known {
    let known = this.#known.get(conversation);
    if (known === undefined) {
      known = { openedAt: this.#options.now(), epoch: randomBytes(4).toString("hex") };
      this.#known.set(conversation, known);
    }
    return known;
  }

  #describe(conversation: Conversation): RunningConversation {
    const { id, name, settings, usage, turns, pendingApprovals } = conversation;
    const cost = usage?.cost?.total_usd;
    return {
      conversation_id: id,
      ...(name === undefined ? {} : { name }),
      state: stateOf(conversation),
      provider: settings.provider,
      model: settings.model,
      cwd: settings.cwd,
      tokens: usage?.total_token_usage.total_tokens ?? 0,
      ...(cost === undefined ? {} : { cost_usd: cost }),
      turns,
      opened_at: this.#knownOf(conversation).openedAt,
      approvals: pendingApprovals,
    };
  }
}

function stateOf({ isAwake, openTurn, pendingApprovals }: Conversation): RunningState {
  if (pendingApprovals.length > 0) return "needs_approval";
  if (openTurn !== undefined) return "working";
  return isAwake ? "idle" : "asleep";
}

interface ClientParts {
  readonly conversations: ControlledConversations;
  readonly describe: (conversation: Conversation) => RunningConversation;
  readonly epoch: (conversation: Conversation) => string;
  readonly welcome: () => ControlWelcome;
}

type Reply = Exclude<ControlReply, { type: "welcome" | "refused" }>;

/** One connection. Its requests are answered one after another; events come in between. */
class Client {
  readonly #lines: MessageLines;
  readonly #parts: ClientParts;
  readonly #subscriptions = new Set<() => void>();

  constructor(lines: MessageLines, parts: ClientParts) {
    this.#lines = lines;
    this.#parts = parts;
  }

  async serve(): Promise<void> {
    if (!(await this.#greet())) return;
    for (;;) {
      const { done, value } = await this.#lines.next();
      if (done) return;
      let request: ControlRequest;
      try {
        request = check(ControlRequest, value, "request");
      } catch (error) {
        return await refuse(this.#lines, messageOf(error));
      }
      await this.#lines.send(await this.#answer(request));
    }
  }

  /** Ends the connection after what was published. */
  end(): void {
    // The events of conversations that have ended are sent first, which takes a round of the event loop.
    setImmediate(() => this.#lines.end());
  }

  close(): void {
    for (const end of this.#subscriptions) end();
    this.#lines.close();
  }

  async #greet(): Promise<boolean> {
    const deadline = setTimeout(() => this.#lines.close(), helloMs).unref();
    const { done, value } = await this.#lines.next();
    clearTimeout(deadline);
    if (done) return false;
    const hello = ControlHello.safeParse(value);
    if (!hello.success) {
      await refuse(this.#lines, "expected a hello with the version of the protocol first");
      return false;
    }
    if (hello.data.protocol !== controlProtocol) {
      const theirs = `version ${hello.data.protocol}`;
      const message = `this process (cody ${version}) has version ${controlProtocol} of the control protocol, not ${theirs}; use the same cody`;
      await refuse(this.#lines, message);
      return false;
    }
    await this.#lines.send(this.#parts.welcome());
    return true;
  }

  async #answer(request: ControlRequest): Promise<Reply> {
    try {
      return await this.#perform(request);
    } catch (error) {
      return { type: "failed", id: request.id, code: codeOf(error), message: messageOf(error) };
    }
  }

  async #perform(request: ControlRequest): Promise<Reply> {
    const { id } = request;
    const { conversations, describe } = this.#parts;
    switch (request.type) {
      case "list":
        return { type: "conversations", id, conversations: conversations.all().slice(0, maxListed).map(describe) };
      case "open": {
        if (conversations.open === undefined) throw new InvalidInputError("this process is not a daemon");
        return { type: "opened", id, conversation_id: (await conversations.open(request)).id };
      }
      case "shutdown":
        if (conversations.shutdown === undefined) throw new InvalidInputError("this process is not a daemon");
        conversations.shutdown();
        return { type: "done", id };
      case "events":
        return this.#subscribe(id, this.#conversation(request.conversation_id), request.since);
      case "submit": {
        const conversation = this.#conversation(request.conversation_id);
        const { id: submissionId, status } = await submit(conversation, request.op);
        return { type: "submitted", id, submission_id: submissionId, status };
      }
      case "stop":
        return { type: "stopped", id, ...(await this.#conversation(request.conversation_id).stop()) };
      default: {
        const conversation = this.#conversation(request.conversation_id);
        await conversation.answerApproval(request.approval_id, request.decision);
        await conversation.flush();
        return { type: "answered", id };
      }
    }
  }

  #conversation(id: string): Conversation {
    const conversation = this.#parts.conversations.get(id);
    if (conversation !== undefined) return conversation;
    throw new InvalidInputError(`conversation ${id} is not open in this process`);
  }

  #subscribe(id: number, conversation: Conversation, since: string | undefined): Reply {
    if (this.#subscriptions.size >= maxSubscriptions) {
      throw new InvalidInputError(`at most ${maxSubscriptions} streams of events per client`);
    }
    const epoch = this.#parts.epoch(conversation);
    // Created now, so that no event after the answer is missed.
    const events = conversation.events({ since: since === undefined ? "now" : firstEvent(since, epoch) });
    const end = (): void => void events.return?.();
    this.#subscriptions.add(end);
    void this.#stream(id, epoch, events).finally(() => this.#subscriptions.delete(end));
    return { type: "subscribed", id, conversation: this.#parts.describe(conversation) };
  }

  async #stream(id: number, epoch: string, events: ReturnType<Conversation["events"]>): Promise<void> {
    // The answer to the request goes first.
    await new Promise((resolve) => setImmediate(resolve));
    for await (const event of events) {
      await this.#lines.send({ type: "event", id, event_id: `${epoch}-${event.seq}`, event } satisfies Reply);
    }
    await this.#lines.send({ type: "end", id } satisfies Reply);
  }
}

async function submit(conversation: Conversation, op: Op): Promise<SubmittedInput> {
  if (op.type !== "steer" && op.type !== "queue") return { id: await conversation.submit(op), status: "accepted" };
  const { items, key, outside_content: outsideContent } = op;
  const outputSchema = op.type === "queue" ? (op.final_output_json_schema ?? undefined) : undefined;
  return await conversation[op.type](items, {
    ...(key === undefined ? {} : { key }),
    ...(outsideContent === undefined ? {} : { outsideContent }),
    ...(outputSchema === undefined ? {} : { outputSchema }),
  });
}

/** The number of the first event to send. The number of another opening says nothing about this one. */
function firstEvent(since: string, epoch: string): number {
  const [, theirs, number] = /^([0-9a-f]{8})-(\d{1,15})$/.exec(since) ?? [];
  if (since !== "0" && number === undefined) {
    throw new InvalidInputError("since: expected the id of an event, such as 1f2e3d4c-17, or 0 for all");
  }
  return theirs === epoch ? Number(number) + 1 : 0;
}

async function refuse(lines: MessageLines, message: string): Promise<void> {
  await lines.send({ type: "refused", message } satisfies ControlReply);
  lines.end();
}

function codeOf(error: unknown): FailureCode {
  if (error instanceof FailureError) return error.code;
  return error instanceof InvalidInputError || error instanceof ConversationError ? "invalid_request" : "internal";
}

function messageOf(error: unknown): string {
  const problem = systemProblem(error);
  if (problem !== undefined) return problem.message;
  return errorMessage(error);
}
