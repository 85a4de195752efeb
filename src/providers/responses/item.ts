import type { ItemOrigin, ResponseItem } from "../../messages/response-item.js";
import { isRecord } from "../../base/is-record.js";
import { recordsAt, textAt } from "../json-fields.js";

/**
 * A finished item of an answer, with what we know of it and nothing else; undefined when it is of a kind we did not
 * ask for, or is a call that is not whole: half a call must never run.
 */
export function responsesItem(item: Record<string, unknown>, origin: ItemOrigin): ResponseItem | undefined {
  const id = textAt(item, "id") || undefined;
  const callId = textAt(item, "call_id");
  const name = textAt(item, "name");
  const isUnfinished = item["status"] === "incomplete" || item["status"] === "in_progress";
  const isWhole = callId !== "" && name !== "" && !isUnfinished;
  switch (textAt(item, "type")) {
    case "message": {
      const content = recordsAt(item, "content").map((part) => ({
        type: "output_text" as const,
        text: textAt(part, "text") || textAt(part, "refusal"),
      }));
      return { type: "message", role: "assistant", content, ...(id === undefined ? {} : { id }) };
    }
    case "reasoning": {
      const summary = recordsAt(item, "summary").map((part) => summaryText(textAt(part, "text")));
      const content = recordsAt(item, "content").map((part) => reasoningText(textAt(part, "text")));
      const encrypted = textAt(item, "encrypted_content");
      return {
        type: "reasoning",
        ...(id === undefined ? {} : { id }),
        summary,
        ...(content.length === 0 ? {} : { content }),
        ...(encrypted === "" ? {} : { encrypted_content: encrypted }),
        origin,
      };
    }
    case "function_call": {
      if (!isWhole || typeof item["arguments"] !== "string") return undefined;
      const namespace = textAt(item, "namespace");
      const call = { type: "function_call" as const, name, arguments: item["arguments"], call_id: callId };
      return { ...call, ...(id === undefined ? {} : { id }), ...(namespace === "" ? {} : { namespace }) };
    }
    case "custom_tool_call": {
      if (!isWhole || typeof item["input"] !== "string") return undefined;
      const status = textAt(item, "status");
      const call = { type: "custom_tool_call" as const, name, input: item["input"], call_id: callId };
      return status === "" ? call : { ...call, status };
    }
    case "local_shell_call": {
      const called = callId || id;
      if (called === undefined || isUnfinished || !hasType(item["action"])) return undefined;
      const status = textAt(item, "status") || "completed";
      return { type: "local_shell_call", call_id: called, status, action: item["action"] };
    }
    case "web_search_call": {
      const status = textAt(item, "status");
      return {
        type: "web_search_call",
        ...(id === undefined ? {} : { id }),
        ...(status === "" ? {} : { status }),
        ...(hasType(item["action"]) ? { action: item["action"] } : {}),
      };
    }
    default:
      return undefined;
  }
}

function hasType(action: unknown): action is { [key: string]: unknown; type: string } {
  return isRecord(action) && typeof action["type"] === "string";
}

const summaryText = (text: string) => ({ type: "summary_text" as const, text });
const reasoningText = (text: string) => ({ type: "reasoning_text" as const, text });
