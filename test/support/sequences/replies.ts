import type { MockCall, MockFault, MockReply } from "../../../src/mock-llm/script.js";
import type { AnswerKind, CallKind, CutKind } from "./steps.js";

const thought = "First I look at what there is, then I decide.";
const said = "I shall look at both of them now 🙂";

const texts: Readonly<Record<AnswerKind, string>> = {
  plain: "That is done.",
  blank: " \n",
  "ends in blanks": "That is done. \n\n",
  "half a character": "cut \ud83d",
  nothing: "",
};

const calls: Readonly<Record<CallKind, MockCall>> = {
  approved: { name: "note", arguments: { text: "yes" } },
  denied: { name: "note", arguments: { text: "no" } },
  failing: { name: "fail", arguments: {} },
  "broken arguments": { name: "note", arguments: '{"text": "a' },
  "no object": { name: "note", arguments: '["a"]' },
  "unknown tool": { name: "no.such tool", arguments: { a: 1 } },
  "odd id": { name: "look", arguments: {}, id: `functions.look:0 ${"x".repeat(70)}` },
  "same id": { name: "look", arguments: {}, id: "call_1" },
  "plain text": { name: "jot", input: 'yes\n"and" no' },
  "text for arguments": { name: "note", input: "no JSON" },
};

export function answerReply(kind: AnswerKind, thinks: boolean): MockReply {
  return { text: texts[kind], ...reasoning(thinks) };
}

export function callsReply(
  kinds: readonly CallKind[],
  { thinks, says }: { thinks: boolean; says: boolean },
): MockReply {
  return { ...(says ? { text: said } : {}), ...reasoning(thinks), calls: kinds.map((kind) => calls[kind]) };
}

/** A slow reply, so that something can happen during it. */
export function slowReply(thinks: boolean): MockReply {
  const last: MockCall = { name: "look", arguments: { text: "x".repeat(40) } };
  return { text: said, ...reasoning(thinks), calls: [last, last], delayMs: 3 };
}

/** A call of a tool that runs until it is stopped. */
export function waitReply(thinks: boolean): MockReply {
  return { ...reasoning(thinks), calls: [{ name: "wait", arguments: {} }, calls.approved] };
}

export function cutReply(kind: CutKind, whole: MockReply, hundredth: number): MockReply {
  return { ...whole, fault: cutFault(kind, hundredth) };
}

function cutFault(kind: CutKind, hundredth: number): MockFault {
  // Responses starts with a copy of the request of some kilobytes; an offset beyond the end is an ordinary end.
  const afterBytes = 1 + hundredth * 180;
  switch (kind) {
    case "close":
      return { type: "disconnect", afterBytes };
    case "reset":
      return { type: "disconnect", afterBytes, reset: true };
    case "no end":
      return { type: "cut" };
    case "error event":
      return { type: "error_event", status: 529, afterDeltas: hundredth % 20 };
    case "garbage":
      return { type: "garbage", as: "event" };
    case "two ends":
      return { type: "duplicate_terminal" };
    default:
      return kind satisfies never;
  }
}

export function refusedReply(by: 429 | 500 | 529 | "overflow"): MockReply {
  if (by === "overflow") return { fault: { type: "overflow" } };
  return { fault: { type: "status", status: by, retryAfter: 0 } };
}

/** A reply whose usage says that the window is nearly full. */
export function fillingReply(withCalls: boolean, window: number): MockReply {
  const usage = { input_tokens: Math.floor(window * 0.9), output_tokens: 10 };
  return { ...(withCalls ? callsReply(["same id"], { thinks: true, says: true }) : { text: "Much was said." }), usage };
}

function reasoning(thinks: boolean): Pick<MockReply, "reasoning" | "redacted"> {
  return thinks ? { reasoning: thought, redacted: "What nobody may read." } : {};
}
