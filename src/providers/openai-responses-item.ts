import type { ItemOrigin, ResponseItem } from "../messages/response-item.js";
import { recordsAt, textAt } from "./json-fields.js";

/**
 * A finished item of an answer, with what we know of it and nothing else; undefined when it is of a kind we did not
 * ask for, or is a call that is not whole: half a call must never run.
 */
export function responsesItem(item: Record<string, unknown>, origin: ItemOrigin): ResponseItem | undefined {
  const id = textAt(item, "id") || undefined;
  const callId = textAt(item, "call_id");
  const name = textAt(item, "name");
  const isWhole = callId !== "" && name !== "" && item["status"] !== "incomplete" && item["status"] !== "in_progress";
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
    default:
      return undefined;
  }
}

const summaryText = (text: string) => ({ type: "summary_text" as const, text });
const reasoningText = (text: string) => ({ type: "reasoning_text" as const, text });
