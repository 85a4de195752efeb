import { setTimeout } from "node:timers/promises";
import type { PendingApproval } from "../../../actors/conversation/saved/pending-approvals.js";
import { ConversationInUseError } from "../../../base/errors.js";
import { quotedCommand } from "../../../base/text/quoted-command.js";
import { shortened } from "../../../base/text/truncate.js";
import { ConnectionLostError, type ControlClient } from "../../../control/control-client.js";
import type { ApprovalRequest, ReviewDecision } from "../../../messages/tools/approval.js";
import { CommandError, exitCodes, usageError } from "../../command-error.js";
import { type ContextOf, printResult } from "../../context.js";
import { RunningProcesses } from "../../conversations/running.js";
import { terminalApprover } from "../../terminal/approval.js";
import { answerCommand, approvalText, decisionOf } from "../../terminal/approval-text.js";
import { watchSignals } from "../../terminal/interruption.js";
import { rendererFor } from "../../terminal/render.js";
import { exitCodeOf, TurnPlayer } from "../../terminal/turn-player.js";
import { openWorkspace, type Workspace } from "../../workspace.js";

const maxCommandChars = 200;

/** While a process opens or closes a conversation, it holds the lock but does not answer yet or any more. */
const maxAttempts = 10;
const retryMs = 300;

/** The words for the keys that `decisionOf` understands. */
const answerKeys: ReadonlyMap<string, string> = new Map([
  ["yes", "y"],
  ["always", "a"],
  ["project", "p"],
  ["no", "n"],
  ["stop", "s"],
]);

type Context = ContextOf<"approvals">;

/** A request, and the process that has its conversation open. */
interface Listed {
  readonly approval: PendingApproval;
  readonly request: ApprovalRequest;
  readonly owner?: ControlClient;
}

export async function approvalsCommand(context: Context): Promise<number> {
  const [action = "list", id, answer, ...words] = context.args;
  if (action === "list" && id === undefined) return await list(context);
  if (action === "show" && id !== undefined && answer === undefined) return await show(context, id);
  if (action === "answer" && id !== undefined && answer !== undefined) {
    return await answerRequest(context, id, [answer, ...words]);
  }
  const missing = id === undefined ? "the id of a request" : "the answer";
  if (action === "answer" || (action === "show" && id === undefined)) {
    throw usageError(
      `approvals ${action}: ${missing} is missing`,
      "Usage: cody approvals show ID | answer ID yes|always|project|no|stop",
      "List the open ones: cody approvals",
    );
  }
  throw usageError(
    `approvals ${action}: expected list, show ID, or answer ID yes|always|project|no|stop`,
    'For example: cody approvals answer 5f0c no "use rg instead"',
  );
}

async function list(context: Context): Promise<number> {
  await using workspace = await openWorkspace(context);
  using running = await RunningProcesses.connect(context);
  const all = await listed(workspace, running);
  const blocks = all.map(({ approval, owner }) => {
    const { approvalId, conversationId, command, cwd, requestedAt, answer } = approval;
    const where = owner === undefined ? "saved" : `open in pid ${owner.welcome.pid}`;
    const since = requestedAt === undefined ? "" : `, since ${requestedAt}`;
    return [
      approvalId,
      `  ${shortened(quotedCommand(command), maxCommandChars)}`,
      `  in ${quotedCommand([cwd])}, ${conversationId} (${where})${since}`,
      ...(answer === undefined ? [] : ["  answered; applied when the conversation is resumed"]),
    ].join("\n");
  });
  const text = blocks.length === 0 ? "Nothing waits for approval." : blocks.join("\n");
  await printResult(context, { text, json: { approvals: all.map(jsonOf), problems: running.problems } });
  return 0;
}

async function show(context: Context, id: string): Promise<number> {
  await using workspace = await openWorkspace(context);
  using running = await RunningProcesses.connect(context);
  const found = chosen(await listed(workspace, running), id);
  const text = approvalText(found.request, context.terminal.stdout.columns, answerCommand(found.request)).trimEnd();
  await printResult(context, { text: `${found.approval.conversationId}\n${text}`, json: jsonOf(found) });
  return 0;
}

async function answerRequest(context: Context, id: string, words: readonly string[]): Promise<number> {
  await using workspace = await openWorkspace(context);
  let applied: "applied" | "recorded" | undefined;
  let found: Listed | undefined;
  for (let attempt = 1; applied === undefined; attempt += 1) {
    using running = await RunningProcesses.connect(context);
    found = chosen(await listed(workspace, running), found?.approval.approvalId ?? id);
    const decision = decisionFrom(words, found.request);
    try {
      applied = await answerOnce(workspace, found, decision);
    } catch (error) {
      const mayChange = error instanceof ConversationInUseError || error instanceof ConnectionLostError;
      if (!mayChange || attempt === maxAttempts) throw error;
      await setTimeout(retryMs);
    }
  }
  if (found === undefined) throw new Error("no request was answered");
  const { approvalId, conversationId } = found.approval;
  const isContinued = applied === "recorded" && context.flags.now;
  const rest =
    applied === "applied" || isContinued
      ? ""
      : `\nIts conversation is not open: the answer is applied when it is resumed: cody resume ${conversationId}`;
  const text = `Answered ${approvalId}${rest}`;
  const json = { approval_id: approvalId, conversation_id: conversationId, status: applied };
  if (!isContinued || !context.flags.json) await printResult(context, { text, json });
  return isContinued ? await continueTurn(context, workspace, conversationId) : 0;
}

async function answerOnce(
  workspace: Workspace,
  { approval, owner }: Listed,
  decision: ReviewDecision,
): Promise<"applied" | "recorded"> {
  if (owner === undefined) {
    await workspace.recordAnswer(approval, decision);
    return "recorded";
  }
  const { conversationId, approvalId } = approval;
  const ids = { conversation_id: conversationId, approval_id: approvalId };
  await owner.ask({ type: "answer_approval", ...ids, decision });
  return "applied";
}

/** Resumes the conversation in this process and plays its turn to the end. */
async function continueTurn(context: Context, workspace: Workspace, id: string): Promise<number> {
  using interruption = watchSignals(context.terminal);
  const conversation = await workspace.resume({ id }, { allowEmpty: true });
  if (conversation.notice !== undefined) await context.tell(conversation.notice);
  const player = new TurnPlayer(conversation, rendererFor(context, "stderr"));
  const approve = terminalApprover(context, interruption);
  const outcome = await player.open({ signal: interruption.signal, approve });
  return interruption.exitCode ?? exitCodeOf(outcome);
}

/** The requests of open conversations, which their processes know best, and of saved ones. */
async function listed(workspace: Workspace, running: RunningProcesses): Promise<Listed[]> {
  const open = running.processes.flatMap(({ client, conversations }) =>
    conversations.map((conversation) => ({ client, conversation })),
  );
  const owners = new Map(open.map(({ client, conversation }) => [conversation.conversation_id, client]));
  const saved = await workspace.approvals();
  const times = new Map(saved.map(({ approvalId, requestedAt }) => [approvalId, requestedAt]));
  const ofOpen = open.flatMap(({ client, conversation }) =>
    conversation.approvals.map((request): Listed => {
      const requestedAt = times.get(request.approval_id);
      return {
        approval: {
          approvalId: request.approval_id,
          conversationId: conversation.conversation_id,
          callId: request.call_id,
          turnId: request.turn_id,
          tool: request.tool,
          command: request.command,
          cwd: request.cwd,
          ...(typeof request.reason === "string" ? { reason: request.reason } : {}),
          ...(request.changes === undefined ? {} : { changes: request.changes }),
          ...(requestedAt === undefined ? {} : { requestedAt }),
          state: conversation.state === "asleep" ? "asleep" : "awake",
        },
        request,
        owner: client,
      };
    }),
  );
  const ofSaved = saved.filter(({ conversationId }) => !owners.has(conversationId));
  return [...ofOpen, ...ofSaved.map((approval) => ({ approval, request: requestOf(approval) }))];
}

function requestOf(approval: PendingApproval): ApprovalRequest {
  const { approvalId, callId, turnId, tool, command, cwd, reason, changes } = approval;
  return {
    approval_id: approvalId,
    call_id: callId,
    turn_id: turnId,
    tool,
    command: [...command],
    cwd,
    ...(reason === undefined ? {} : { reason }),
    ...(changes === undefined ? {} : { changes }),
  };
}

function chosen(all: readonly Listed[], text: string): Listed {
  const matches = all.filter(({ approval }) => text !== "" && approval.approvalId.startsWith(text));
  const exact = matches.find(({ approval }) => approval.approvalId === text);
  const [only] = exact === undefined ? matches : [exact];
  if (only !== undefined && (exact !== undefined || matches.length === 1)) return only;
  if (matches.length > 1) throw usageError(`${text} matches ${matches.length} approval requests`, "Use a longer id");
  throw new CommandError(
    `No open approval request ${text}: it was answered, its turn has ended, or its command has changed`,
    exitCodes.failed,
    ["List the open ones: cody approvals"],
  );
}

function decisionFrom([word = "", ...others]: readonly string[], request: ApprovalRequest): ReviewDecision {
  const key = answerKeys.get(word.toLowerCase());
  const mayExplain = key === "n" || others.length === 0;
  const decision = key === undefined || !mayExplain ? undefined : decisionOf([key, ...others].join(" "), request);
  if (decision !== undefined) return decision;
  if (key === "p")
    throw usageError("This request offers no rule for the project", "Answer with yes, always, no or stop");
  throw usageError(`Not an answer: ${word}`, "Answer with yes, always, project, no or stop");
}

function jsonOf({ approval, owner }: Listed): unknown {
  return { ...approval, ...(owner === undefined ? {} : { pid: owner.welcome.pid }) };
}
