import { shortened } from "../../../base/text/truncate.js";
import { visible } from "../../../base/text/visible.js";
import { ConnectionLostError, type ControlClient } from "../../../control/control-client.js";
import { isApprovalMsg } from "../../../messages/event.js";
import { FailureError } from "../../../messages/failure-error.js";
import type { ApprovalRequest } from "../../../messages/tools/approval.js";
import { usageError } from "../../command-error.js";
import type { ContextOf } from "../../context.js";
import { RunningProcesses } from "../../conversations/running.js";
import { approvalText, decisionOf } from "../../terminal/approval-text.js";
import { followedEvents } from "../../terminal/follow-events.js";
import { watchSignals } from "../../terminal/interruption.js";
import { readLines } from "../../terminal/read-input.js";

const help = [
  "A line is a message for the running turn, or begins one.",
  "/queue <text>  begins a turn after the running one",
  "/yes, /always, /project, /no [what to do instead], /abort  answer the approval request",
  "/stop          interrupts the turn and drops the messages that wait",
  "/detach        leaves; so do Ctrl-D and Ctrl-C",
].join("\n");

/** The keys that `decisionOf` understands. */
const answerKeys: ReadonlyMap<string, string> = new Map([
  ["/yes", "y"],
  ["/always", "a"],
  ["/project", "p"],
  ["/no", "n"],
  ["/abort", "s"],
]);

export async function attachCommand(context: ContextOf<"attach">): Promise<number> {
  const { args, flags, terminal } = context;
  const [text, ...others] = args;
  if (text === undefined || others.length > 0) throw usageError("Which conversation?", "Usage: cody attach <id>");
  using interruption = watchSignals(terminal);
  using running = await RunningProcesses.connect(context);
  const found = running.require(text);
  const { conversation_id: id } = found.conversation;
  const { conversation, events } = await found.client.events(id, flags.since);
  const attached = new Attached(context, found.client, id);
  const { model, state, name } = conversation;
  const shown = `${id}${name === undefined ? "" : ` (${visible(name)})`}`;
  await context.tell(`Attached to ${shown}: ${visible(model)}, ${state.replace("_", " ")}. /help lists the commands.`);
  for (const request of conversation.approvals) await attached.ask(request);
  const left = new AbortController();
  const leave = (): void => void events.return?.();
  interruption.signal.addEventListener("abort", leave);
  const typing = attached.answerLines(AbortSignal.any([interruption.signal, left.signal])).finally(leave);
  const show = followedEvents(context, (request) => attached.ask(request));
  try {
    for await (const event of events) {
      attached.note(event.event.msg);
      await show(event);
      if (terminal.stdout.closed) break;
    }
  } finally {
    left.abort();
  }
  await typing;
  return interruption.exitCode ?? 0;
}

/** Plain text never answers, so the keys of the prompt are not offered. */
function answersTo({ proposed_execpolicy_amendment: words }: ApprovalRequest): string {
  const project = words === undefined ? "" : "  /project: always in this project";
  return `/yes: once  /always: always in this conversation${project}  /no [what to do instead]  /abort: no, and stop the turn`;
}

/** Sends typed lines to a conversation of another process. */
class Attached {
  readonly #context: ContextOf<"attach">;
  readonly #client: ControlClient;
  readonly #conversationId: string;
  /** The requests that were shown and are not known to be answered, oldest first. */
  readonly #requests = new Map<string, ApprovalRequest>();

  constructor(context: ContextOf<"attach">, client: ControlClient, conversationId: string) {
    this.#context = context;
    this.#client = client;
    this.#conversationId = conversationId;
  }

  async ask(request: ApprovalRequest): Promise<void> {
    const { terminal, flags } = this.#context;
    this.#requests.set(request.approval_id, request);
    if (!flags.json) await terminal.stdout.write(approvalText(request, terminal.stdout.columns, answersTo(request)));
  }

  note(msg: Parameters<typeof isApprovalMsg>[0]): void {
    if (isApprovalMsg(msg)) this.#requests.set(msg.approval_id, msg);
    else if (msg.type === "task_complete" || msg.type === "turn_aborted") this.#requests.clear();
    else if (msg.type === "exec_command_begin" || msg.type === "patch_apply_begin") this.#forget(msg.call_id);
  }

  /** Answers each line until the input ends, or `/detach`. */
  async answerLines(signal: AbortSignal): Promise<void> {
    const { stdin } = this.#context.terminal;
    for await (const line of readLines(stdin, signal)) {
      if (line.trim() === "") continue;
      if (line.trim() === "/detach") return;
      try {
        await this.#answer(line.trim());
      } catch (error) {
        if (error instanceof ConnectionLostError || signal.aborted) return;
        if (!(error instanceof FailureError)) throw error;
        await this.#context.tell(`✗ ${error.message}`);
      }
    }
  }

  async #answer(line: string): Promise<void> {
    const [, word = "", rest = ""] = /^(\/\S*)\s*(.*)$/s.exec(line) ?? [];
    const key = answerKeys.get(word);
    if (key !== undefined) return await this.#decide(rest === "" ? key : `${key} ${rest}`);
    const conversation_id = this.#conversationId;
    if (word === "/help") return await this.#context.tell(help);
    if (word === "/stop") return void (await this.#client.ask({ type: "stop", conversation_id }));
    if (word === "/queue") return await this.#send("queue", rest);
    if (word !== "") return await this.#context.tell(`✗ Unknown command ${visible(word)}. /help lists the commands.`);
    await this.#send("steer", line);
  }

  async #send(type: "steer" | "queue", text: string): Promise<void> {
    if (text === "") return await this.#context.tell("✗ The message is empty");
    const op = { type, items: [{ type: "text" as const, text }] };
    await this.#client.ask({ type: "submit", conversation_id: this.#conversationId, op });
  }

  async #decide(answer: string): Promise<void> {
    const [request] = this.#requests.values();
    if (request === undefined) return await this.#context.tell("✗ No approval request is open");
    const decision = decisionOf(answer, request);
    if (decision === undefined) return await this.#context.tell(`✗ Not an answer: ${shortened(visible(answer), 100)}`);
    const { approval_id } = request;
    this.#requests.delete(approval_id);
    await this.#client.ask({
      type: "answer_approval",
      conversation_id: this.#conversationId,
      approval_id,
      decision,
    });
  }

  /** Its call runs, so another process has answered the request. */
  #forget(callId: string): void {
    for (const [id, { call_id }] of this.#requests) if (call_id === callId) this.#requests.delete(id);
  }
}
