import { InvalidInputError } from "../../../base/errors.js";
import { check } from "../../../base/parse.js";
import { FailureError } from "../../../messages/failure-error.js";
import type { ResumeConfig } from "../../../messages/settings/conversation-config.js";
import type { FileChanges } from "../../../messages/tools/file-change.js";
import { type ApprovalRequest, ReviewDecision } from "../../../messages/tools/approval.js";
import { readPendingApproval } from "../../../rollouts/list/pending-approvals.js";
import type { Conversation } from "../handle.js";
import type { Store, StoredApproval } from "../store/store.js";
import { appendSaved } from "./saved-conversations.js";

/** The number of saved conversations, the newest ones, in which requests are looked for. */
const maxScanned = 2_000;

/** An approval request that waits for an answer. The command is exactly the one that will run. */
export interface PendingApproval {
  readonly approvalId: string;
  readonly conversationId: string;
  readonly callId: string;
  readonly turnId: string;
  readonly tool: string;
  readonly command: readonly string[];
  readonly cwd: string;
  readonly reason?: string;
  /** The file changes of a patch. */
  readonly changes?: FileChanges;
  /** Absent when the conversation is not saved. */
  readonly requestedAt?: string;
  /** Whether the conversation is open in this manager, sleeps in it, or is only saved. */
  readonly state: "awake" | "asleep" | "saved";
  /** The answer that is recorded and will be applied when the conversation is resumed. */
  readonly answer?: ReviewDecision;
}

export interface ListApprovalsOptions {
  /** Only requests of commands in this folder. */
  readonly cwd?: string;
  readonly limit?: number;
}

export interface AnswerApprovalOptions {
  /** The conversation of the request, if it is known: then no other is searched. */
  readonly conversationId?: string;
  /**
   * Whether a conversation that is not open is resumed, which applies the answer at once. With `false` the answer is only
   * recorded, and applied when the conversation is resumed. True by default.
   */
  readonly resume?: boolean;
  /** The settings for the resumed conversation; by default it works in its recorded folder. */
  readonly config?: ResumeConfig;
}

export interface ApprovalAnswered {
  readonly conversationId: string;
  /** `applied`: the turn continues with the answer. `recorded`: the next resume will apply it. */
  readonly status: "applied" | "recorded";
  /** The conversation, if it is open. */
  readonly conversation?: Conversation;
}

interface PendingParts {
  readonly store: Store;
  readonly live: ReadonlyMap<string, Conversation>;
  readonly now: () => Date;
  resume(conversationId: string, config: ResumeConfig): Promise<Conversation>;
  /** Tracks work that must finish before the store is closed. */
  readonly track: <T>(work: Promise<T>) => Promise<T>;
}

/** The approval requests of all conversations, open or not, and their answers. */
export class PendingApprovals {
  readonly #parts: PendingParts;

  constructor(parts: PendingParts) {
    this.#parts = parts;
  }

  /** Lists the requests, newest first. */
  async list({ cwd, limit }: ListApprovalsOptions): Promise<PendingApproval[]> {
    const { store, live } = this.#parts;
    const open = await Promise.all([...live.values()].map(ofConversation));
    const saved = await store.pendingApprovals(maxScanned, new Set(live.keys()));
    return [...open.flat(), ...saved.map(ofSaved)]
      .filter((request) => cwd === undefined || request.cwd === cwd)
      .toSorted((a, b) => Date.parse(b.requestedAt ?? "") - Date.parse(a.requestedAt ?? "") || 0)
      .slice(0, limit);
  }

  async find(approvalId: string, conversationId?: string): Promise<PendingApproval | undefined> {
    const { store, live } = this.#parts;
    if (conversationId === undefined) return named(await this.list({}), approvalId);
    const open = live.get(conversationId);
    if (open !== undefined) return named(await ofConversation(open), approvalId);
    const saved = await store.pendingApproval(conversationId);
    return named(saved === undefined ? [] : [ofSaved(saved)], approvalId);
  }

  async answer(
    approvalId: string,
    decision: ReviewDecision,
    { conversationId, resume = true, config = {} }: AnswerApprovalOptions,
  ): Promise<ApprovalAnswered> {
    check(ReviewDecision, decision, "decision");
    const found = await this.find(approvalId, conversationId);
    if (found === undefined) throw notOpen(approvalId);
    if (found.answer !== undefined) throw answeredBefore(approvalId);
    const id = found.conversationId;
    if (found.state === "saved" && !resume) {
      await this.#parts.track(this.#record(found, decision));
      return { conversationId: id, status: "recorded" };
    }
    const conversation = this.#parts.live.get(id) ?? (await this.#parts.resume(id, { cwd: "recorded", ...config }));
    await conversation.answerApproval(approvalId, decision);
    await conversation.flush();
    return { conversationId: id, status: "applied", conversation };
  }

  /** Records an answer in the file of a conversation that is not open. */
  async #record({ conversationId, approvalId, callId }: PendingApproval, decision: ReviewDecision): Promise<void> {
    const { store, now } = this.#parts;
    const time = now();
    const saved = await appendSaved(store, {
      conversationId,
      now: time,
      force: false,
      // Another process may have answered before this one took the lock.
      verify: async () => {
        const pending = await store.pendingApproval(conversationId);
        if (pending?.request.approval_id !== approvalId) throw notOpen(approvalId);
        if (pending.answer !== undefined) throw answeredBefore(approvalId);
      },
      line: {
        timestamp: time.toISOString(),
        type: "cody",
        payload: { type: "approval_answered", approval_id: approvalId, call_id: callId, decision },
      },
    });
    if (saved.status === "saved") return;
    const reason = saved.status === "not_saved" ? saved.reason : "conversations are not saved in this run";
    throw new FailureError({ code: "not_saved", message: `the answer was not saved: ${reason}`, retryable: true });
  }
}

/** The open requests of a conversation of this manager; what is on disk of them has the time too. */
async function ofConversation(conversation: Conversation): Promise<PendingApproval[]> {
  const { id, rolloutPath, isAwake, pendingApprovals } = conversation;
  if (pendingApprovals.length === 0) return [];
  const saved = rolloutPath === null ? undefined : await readPendingApproval(rolloutPath);
  return pendingApprovals.map((request) => ({
    ...pendingApproval(id, request),
    ...(saved?.request.approval_id === request.approval_id ? { requestedAt: saved.requestedAt } : {}),
    state: isAwake ? "awake" : "asleep",
  }));
}

function ofSaved({ conversationId, request, requestedAt, answer }: StoredApproval): PendingApproval {
  const answered = answer === undefined ? {} : { answer };
  return { ...pendingApproval(conversationId, request), requestedAt, ...answered, state: "saved" };
}

function pendingApproval(conversationId: string, request: ApprovalRequest): Omit<PendingApproval, "state"> {
  const { approval_id, call_id, turn_id, tool, command, cwd, reason, changes } = request;
  return {
    approvalId: approval_id,
    conversationId,
    callId: call_id,
    turnId: turn_id,
    tool,
    command,
    cwd,
    ...(typeof reason === "string" ? { reason } : {}),
    ...(changes === undefined ? {} : { changes }),
  };
}

function named(requests: readonly PendingApproval[], approvalId: string): PendingApproval | undefined {
  if (typeof approvalId !== "string") throw new InvalidInputError("expected the id of an approval request");
  return requests.find((request) => request.approvalId === approvalId);
}

function notOpen(approvalId: string): FailureError {
  const message =
    `no open approval request ${approvalId}: it was answered, its turn has ended, or its command has changed. ` +
    "List the open requests again";
  return new FailureError({ code: "invalid_request", message, retryable: false });
}

function answeredBefore(approvalId: string): FailureError {
  const message = `no open approval request ${approvalId}: it was answered before, and the answer waits to be applied`;
  return new FailureError({ code: "invalid_request", message, retryable: false });
}
