import { contextKind, isRealUserMessage } from "../../../base/codex/context-message.js";
import { messageText, type ResponseItem, webSearchText } from "../../../messages/response-item.js";
import { toolLine } from "../../../rollouts/formats/export/call-line.js";
import { callOf, isAttachment, isCallOutput, outputText, reasoningTexts } from "../../../rollouts/history-messages.js";
import type { Detail, Entry } from "./conversation-state.js";

interface HistoryEntries {
  readonly entries: readonly Entry[];
  readonly details: readonly Detail[];
  /** The number of messages of the user and the model in the whole history. */
  readonly messages: number;
}

/** The last turns of a history as entries of a transcript. */
export function historyEntries(items: readonly ResponseItem[], turns: number): HistoryEntries {
  const starts = items.flatMap((item, index) => (isRealUserMessage(item) ? [index] : []));
  const first = starts.at(-turns) ?? 0;
  const shown = items.slice(first);
  const outputs = new Map(shown.filter(isCallOutput).map((item) => [item.call_id, item]));
  const details: Detail[] = [];
  const entries = shown.flatMap((item): Entry[] => {
    if (isRealUserMessage(item)) {
      return [{ type: "user", text: messageText(item), images: item.content.filter(isAttachment).length }];
    }
    if (contextKind(item) === "<turn_aborted>") return [{ type: "notice", kind: "info", text: "Interrupted." }];
    if (item.type === "message" && item.role === "assistant") {
      return [{ type: "answer", text: messageText(item), isEnd: true }];
    }
    if (item.type === "reasoning") {
      const text = reasoningTexts(item).join("\n\n");
      if (text.trim() !== "") details.push({ title: "Reasoning", text });
      return [];
    }
    if (item.type === "web_search_call") {
      return [{ type: "tool", summary: { title: webSearchText(item.action ?? {}), outcome: "done" } }];
    }
    const call = callOf(item);
    if (call === undefined || call.name === "update_plan") return [];
    const title = toolLine(call.name, call.arguments);
    const output = outputs.get(call.call_id);
    if (output !== undefined) details.push({ title, text: outputText(output.output) });
    const outcome = output === undefined ? "interrupted" : output.success === false ? "failed" : "done";
    return [{ type: "tool", summary: { title, outcome } }];
  });
  const answers = items.filter((item) => item.type === "message" && item.role === "assistant").length;
  return { entries, details, messages: starts.length + answers };
}
