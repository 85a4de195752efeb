import { openRegular, readAt } from "../../base/fs/open-regular.js";
import { isRecord } from "../../base/is-record.js";
import { jsonOrUndefined } from "../../base/parse.js";
import { ApprovalRequest, ReviewDecision } from "../../messages/tools/approval.js";
import { isQuestion } from "../../messages/tools/approval-facts.js";

/** A turn that waits for an approval has little after its request, so most files are read only this far. */
const firstTailBytes = 8 * 1024;

const tailGrowth = 8;

/** A request lists the changes of a patch. One that is farther from the end of its file is not found. */
const maxTailBytes = 8 * 1024 * 1024;

const newline = 0x0a;

/** An approval request in a rollout whose answer was not applied. */
export interface SavedApproval {
  readonly request: ApprovalRequest;
  readonly requestedAt: string;
  /** The answer that the next opening will apply. */
  readonly answer?: ReviewDecision;
}

/**
 * Reads the approval request that the open turn of a rollout waits for, from the end of the file. Turns ask one question
 * at a time, so there is at most one. Undefined too for a file that cannot be read.
 */
export async function readPendingApproval(path: string): Promise<SavedApproval | undefined> {
  try {
    await using opened = await openRegular(path, { links: "refuse" });
    const { size } = opened.stats;
    for (let length = firstTailBytes; ; length *= tailGrowth) {
      const bounded = Math.min(length, size, maxTailBytes);
      const tail = await readAt(opened.file, size - bounded, bounded);
      const found = pendingIn(wholeLines(tail, bounded === size));
      if (found !== "unknown") return found;
      if (bounded === size || bounded === maxTailBytes) return undefined;
    }
  } catch {
    return undefined;
  }
}

/** The lines of a tail, last first; its first line is left out unless it begins the file. */
function* wholeLines(tail: Buffer, isWhole: boolean): Generator<string> {
  // After the last newline there is a torn line, or a line that is being written.
  let end = tail.lastIndexOf(newline);
  while (end > 0) {
    const start = tail.lastIndexOf(newline, end - 1) + 1;
    if (start === 0 && !isWhole) return;
    yield tail.toString("utf8", start, end);
    end = start - 1;
  }
}

/** `unknown`: neither the request nor the beginning of the turn is among the lines. */
function pendingIn(lines: Iterable<string>): SavedApproval | undefined | "unknown" {
  const decided = new Set<unknown>();
  const answers = new Map<unknown, ReviewDecision>();
  for (const text of lines) {
    const type = /"type":"(approval_(?:requested|decided|answered)|task_started|task_complete|turn_aborted)"/.exec(
      text,
    )?.[1];
    if (type === undefined) continue;
    const line = jsonOrUndefined(text);
    const payload = isRecord(line) ? line["payload"] : undefined;
    // The words may also be in the text of a message.
    if (!isRecord(line) || !isRecord(payload)) continue;
    if (
      line["type"] === "event_msg" &&
      ["task_started", "task_complete", "turn_aborted"].includes(String(payload["type"]))
    )
      return undefined;
    if (line["type"] !== "cody") continue;
    const id = payload["approval_id"];
    if (payload["type"] === "approval_decided") decided.add(id);
    if (payload["type"] === "approval_answered") {
      const decision = ReviewDecision.safeParse(payload["decision"]);
      // The first answer counts.
      if (decision.success) answers.set(id, decision.data);
    }
    const request = payload["type"] === "approval_requested" ? ApprovalRequest.safeParse(payload) : undefined;
    // A question that a running call has asked ends with the call.
    if (request?.success !== true || isQuestion(request.data)) continue;
    if (decided.has(id)) return undefined;
    const answer = answers.get(id);
    return {
      request: request.data,
      requestedAt: String(line["timestamp"]),
      ...(answer === undefined ? {} : { answer }),
    };
  }
  return "unknown";
}
