import { messageText, type ResponseItem, isCall, isOutput } from "../../messages/response-item.js";
import { collectUserMessages } from "../item-kinds.js";
import { sentencesOf, shortened, facts, SUMMARY_UNAVAILABLE } from "./summary-text.js";
import { truncateMiddle } from "../cut/cut-item.js";

const maxTokens = 1_000;
const maxPreviousTokens = 500;
const maxQuoteChars = 300;
const maxRequests = 3;
const maxDecisions = 5;
/** Number of newest answers searched for decisions. */
const maxAnswers = 200;
const maxOpenCalls = 5;

const decision =
  /\b(?:decided?|decision|we(?:['’]ll| will) use|i(?:['’]ll| will) use|chose|chosen|going with|instead of)\b/i;

/** Writes a summary without a model, using only quotes from the conversation. The caller appends the file lists. */
export function extractSummary(items: readonly ResponseItem[], previousSummary?: string): string {
  const requests = collectUserMessages(items);
  const answers = items.flatMap((item) =>
    item.type === "message" && item.role === "assistant" ? [messageText(item)] : [],
  );
  const earlier = previousSummary === undefined ? undefined : facts(previousSummary);
  const sections = [
    ...(earlier === undefined ? section("Goal", requests.slice(0, 1)) : [truncateMiddle(earlier, maxPreviousTokens)]),
    ...section("Latest Requests", requests.slice(earlier === undefined ? 1 : 0).slice(-maxRequests)),
    ...section("Key Decisions", decisionsIn(answers)),
    ...section("Open Tool Calls", openCalls(items)),
    ...section("Last Words", answers.filter((text) => text.trim() !== "").slice(-1)),
  ];
  return truncateMiddle([SUMMARY_UNAVAILABLE, ...sections].join("\n\n"), maxTokens);
}

function section(title: string, lines: readonly string[]): string[] {
  if (lines.length === 0) return [];
  return [`## ${title}\n${lines.map((line) => `- ${shortened(line, maxQuoteChars)}`).join("\n")}`];
}

function decisionsIn(answers: readonly string[]): string[] {
  const found: string[] = [];
  for (const answer of answers.slice(-maxAnswers).toReversed()) {
    if (found.length >= maxDecisions) break;
    found.push(
      ...sentencesOf(answer)
        .filter((sentence) => decision.test(sentence))
        .toReversed(),
    );
  }
  return found.slice(0, maxDecisions).toReversed();
}

function openCalls(items: readonly ResponseItem[]): string[] {
  const open = new Map<string, string>();
  for (const item of items) {
    if (isOutput(item)) open.delete(item.call_id ?? "");
    else if (isCall(item) && typeof item.call_id === "string") open.set(item.call_id, calledText(item));
  }
  return [...open.values()].slice(-maxOpenCalls);
}

function calledText(call: ResponseItem): string {
  if (call.type === "function_call") return `${call.name} ${call.arguments}`;
  if (call.type === "custom_tool_call") return `${call.name} ${call.input}`;
  return call.type === "local_shell_call" ? JSON.stringify(call.action) : call.type;
}
