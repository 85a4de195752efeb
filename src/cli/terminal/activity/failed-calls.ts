import { callLine, toolLine } from "../../../messages/call-line.js";
import type { EventMsg } from "../../../messages/event.js";
import { nobodyThere } from "../approval/refuse-approval.js";
import { shownText } from "../../../base/text/shown-lines.js";
import { shortLine } from "./short-line.js";

/** Why a call did not run, where the person has said so or was told so when it was decided. */
const knownRefusals = [nobodyThere, "was refused by the user"];

/** Tells that a call failed and why, unless that is known already. */
export class FailedCalls {
  /** The lines of calls that are shown when they begin: one that is refused never does. */
  readonly #unshown = new Map<string, string>();
  readonly #told = new Set<string>();
  readonly #patches = new Set<string>();

  textOf(msg: EventMsg): string {
    switch (msg.type) {
      case "raw_response_item":
        return this.#item(Object(msg.item) as Record<string, unknown>);
      case "exec_command_begin":
      // Whoever is asked about a command sees it.
      case "exec_approval_request":
        this.#unshown.delete(msg.call_id);
        return "";
      case "exec_command_end":
      case "patch_apply_end":
      case "mcp_tool_call_end":
        this.#told.add(msg.call_id);
        return "";
      case "task_complete":
      case "turn_aborted":
        this.#unshown.clear();
        this.#patches.clear();
        this.#told.clear();
        return "";
      default:
        return "";
    }
  }

  #item(item: Record<string, unknown>): string {
    const { type, call_id: callId } = item;
    if (typeof callId !== "string") return "";
    if (type === "function_call_output" || type === "custom_tool_call_output") return this.#output(callId, item);
    const { name, arguments: args } = item;
    if (name === "apply_patch") this.#patches.add(callId);
    const isHidden = typeof name === "string" && typeof args === "string" && callLine(item) === undefined;
    if (isHidden) this.#unshown.set(callId, `${toolLine(name, args)}\n`);
    return "";
  }

  #output(callId: string, { success, output }: Record<string, unknown>): string {
    const line = this.#unshown.get(callId) ?? "";
    const [reason = "", ...details] = textOf(output).split("\n");
    const isTold = this.#told.has(callId) || knownRefusals.some((end) => reason.endsWith(end));
    this.#unshown.delete(callId);
    this.#told.delete(callId);
    // The lines that a patch did not find follow its reason.
    const isPatch = this.#patches.delete(callId);
    const lines = isPatch ? shownText(details.map((detail) => `  ${detail}`).join("\n")) : "";
    return success !== false || isTold ? "" : `${line}${failedLine(reason)}${lines}`;
  }
}

/** That something failed and why; what it was stands above it. */
export function failedLine(reason: string): string {
  return reason === "" ? "  failed\n" : `  failed: ${shortLine(reason)}\n`;
}

function textOf(output: unknown): string {
  const parts = Array.isArray(output) ? output.map((part) => Object(part)["text"] as unknown) : [output];
  return (parts.find((part) => typeof part === "string") ?? "").trimStart();
}
