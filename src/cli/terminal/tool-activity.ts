import { relative } from "node:path";
import { quotedWord } from "../../base/text/quoted-command.js";
import { shortened } from "../../base/text/truncate.js";
import { shownText, shownLine, ShownLines, lastLines, LineReader, linesOf } from "../../base/text/shown-lines.js";
import { visible } from "../../base/text/visible.js";
import { callLine, commandLine, toolLine } from "../../rollouts/formats/export/call-line.js";
import { changeLines, changeWords } from "./change-text.js";
import { knowledgeText, planRows, planTitle } from "./tool-text.js";
import type { EventMsg } from "../../messages/event.js";
import type { FileChanges } from "../../messages/tools/file-change.js";
import type { Plan } from "../../messages/tools/plan.js";
import { maxDeltaBytes, maxDeltas } from "../../tools/exec/exec-events.js";
import { noApproverReason } from "./approval-text.js";
import { webSearchText } from "../../messages/response-item.js";

const maxChars = 200;

/** Ends of refusal texts that the user has already seen, because they refused or were informed at once. */
const knownRefusals = [noApproverReason, "was refused by the user"];

const maxPathChars = 500;

const maxFolderChars = 500;

/** Renders the work of tools as lines for a person. */
export class ToolActivity {
  #cwd: string | undefined;
  readonly #running = new Map<string, ShownOutput>();
  readonly #failed = new FailedCalls();

  /** The lines to print for an event; empty if there are none. */
  textOf(msg: EventMsg): string {
    return this.#doneText(msg) + this.#failed.textOf(msg);
  }

  #doneText(msg: EventMsg): string {
    switch (msg.type) {
      case "session_configured":
        this.#cwd = msg.cwd;
        return "";
      case "raw_response_item": {
        const line = callLine(msg.item);
        return line === undefined ? "" : `${line}\n`;
      }
      case "knowledge_saved":
        return `${knowledgeText(msg).join("\n  ")}\n`;
      case "exec_command_begin":
        this.#running.set(msg.call_id, new ShownOutput());
        return `${commandLine(msg.command)}${msg.cwd === this.#cwd ? "" : `  (in ${folderText(msg.cwd)})`}\n`;
      case "exec_command_output_delta":
        return this.#running.get(msg.call_id)?.add(msg.stream, Buffer.from(msg.chunk, "base64")) ?? "";
      case "exec_command_end":
        return (
          this.#late(msg) + this.#end(msg.call_id, msg) + (msg.exit_code === 0 ? "" : `  exit code ${msg.exit_code}\n`)
        );
      case "patch_apply_begin":
        return patchText(msg.changes, this.#cwd);
      case "patch_apply_end":
        return msg.success ? "" : shownText(msg.stderr);
      case "web_search_end":
        return `${shortLine(webSearchText(msg.action ?? msg))}\n`;
      case "plan_update":
        return planText(msg);
      case "mcp_tool_call_end":
        return resultLine(msg.result);
      case "task_complete":
      case "turn_aborted":
        return [...this.#running.keys()].map((callId) => this.#end(callId)).join("");
      default:
        return "";
    }
  }

  /** Output that was not streamed while the command ran, such as the reason it did not start. */
  #late({ call_id, stdout, stderr }: Extract<EventMsg, { type: "exec_command_end" }>): string {
    const output = this.#running.get(call_id);
    if (output?.isEmpty !== true) return "";
    return output.add("stdout", Buffer.from(stdout)) + output.add("stderr", Buffer.from(stderr));
  }

  #end(callId: string, ends?: { readonly stdout: string; readonly stderr: string }): string {
    const rest = this.#running.get(callId)?.end(ends) ?? "";
    this.#running.delete(callId);
    return rest;
  }
}

function folderText(folder: string): string {
  return shortened(quotedWord(folder), maxFolderChars);
}

/** The result of an MCP tool call on one line. The line above it shows the call. */
function resultLine(result: Extract<EventMsg, { type: "mcp_tool_call_end" }>["result"]): string {
  if ("Err" in result) return failedLine(result.Err);
  const { content, isError } = result.Ok;
  const [first] = content.flatMap((part) => (typeof part["text"] === "string" ? [part["text"]] : []));
  return isError === true ? failedLine(first ?? "") : `  ${shortLine(first ?? "")}\n`;
}

/** The changes of a patch: each file by its relative name, with a bounded part of its lines. */
function patchText(changes: FileChanges, cwd: string | undefined): string {
  return Object.entries(changes)
    .map(([path, change]) => {
      const lines = new ShownLines();
      const words = changeWords(change, path, (name) => pathText(name, cwd));
      return shownLine(words) + lines.add(changeLines(change)) + lines.end();
    })
    .join("");
}

function pathText(path: string, cwd: string | undefined): string {
  const inside = cwd === undefined ? path : relative(cwd, path);
  return shortened(quotedWord(inside.startsWith("..") ? path : inside), maxPathChars);
}

/** A plan as a list with a mark for each step. */
function planText(plan: Plan): string {
  return `${planTitle}\n${planRows(plan)
    .map(({ mark, text }) => shownLine(mark === "" ? text : `${mark} ${text}`))
    .join("")}`;
}

/** The output of a running command: a bounded part of it, indented and without control characters. */
class ShownOutput {
  readonly #streams = { stdout: new LineReader(), stderr: new LineReader() };
  readonly #lines = new ShownLines();
  #bytes = 0;
  #deltas = 0;

  get isEmpty(): boolean {
    return this.#bytes === 0;
  }

  /** Returns the text to show now. */
  add(stream: "stdout" | "stderr", bytes: Uint8Array): string {
    this.#bytes += bytes.length;
    this.#deltas += 1;
    return this.#lines.add(this.#streams[stream].read(bytes));
  }

  /**
   * Returns the text still to be shown. `ends` holds the end of each stream, which is not streamed for very long
   * output.
   */
  end(ends?: { readonly stdout: string; readonly stderr: string }): string {
    const rest = this.#lines.add([...this.#streams.stdout.end(), ...this.#streams.stderr.end()]);
    if (ends !== undefined && (this.#bytes >= maxDeltaBytes || this.#deltas >= maxDeltas)) {
      const last = [ends.stdout, ends.stderr].flatMap((text) => linesOf(text).slice(-lastLines));
      return `${rest}  … many more lines\n${last.map(shownLine).join("")}`;
    }
    return rest + this.#lines.end();
  }
}

/** Reports failed calls with the reason, unless another event already did. */
class FailedCalls {
  /** Lines of calls that are normally shown when they start, which a refused call never does. */
  readonly #hiddenCalls = new Map<string, string>();
  readonly #reported = new Set<string>();
  readonly #patches = new Set<string>();

  textOf(msg: EventMsg): string {
    switch (msg.type) {
      case "raw_response_item":
        return this.#item(Object(msg.item) as Record<string, unknown>);
      case "exec_command_begin":
      // The approval question shows the command.
      case "exec_approval_request":
        this.#hiddenCalls.delete(msg.call_id);
        return "";
      case "exec_command_end":
      case "patch_apply_end":
      case "mcp_tool_call_end":
        this.#reported.add(msg.call_id);
        return "";
      case "task_complete":
      case "turn_aborted":
        this.#hiddenCalls.clear();
        this.#patches.clear();
        this.#reported.clear();
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
    if (isHidden) this.#hiddenCalls.set(callId, `${toolLine(name, args)}\n`);
    return "";
  }

  #output(callId: string, { success, output }: Record<string, unknown>): string {
    const line = this.#hiddenCalls.get(callId) ?? "";
    const [reason = "", ...details] = textOf(output).split("\n");
    const isReported = this.#reported.has(callId) || knownRefusals.some((end) => reason.endsWith(end));
    this.#hiddenCalls.delete(callId);
    this.#reported.delete(callId);
    // The reason is followed by the lines that the patch did not find.
    const isPatch = this.#patches.delete(callId);
    const lines = isPatch ? shownText(details.map((detail) => `  ${detail}`).join("\n")) : "";
    return success !== false || isReported ? "" : `${line}${failedLine(reason)}${lines}`;
  }
}

/** Reports a failure and its reason. The line above it shows the call. */
function failedLine(reason: string): string {
  return reason === "" ? "  failed\n" : `  failed: ${shortLine(reason)}\n`;
}

function textOf(output: unknown): string {
  const parts = Array.isArray(output) ? output.map((part) => Object(part)["text"] as unknown) : [output];
  return (parts.find((part) => typeof part === "string") ?? "").trimStart();
}

/** A text on one line of bounded length. */
function shortLine(text: string): string {
  return shortened(visible(shortened(text, maxChars * 2)), maxChars);
}
