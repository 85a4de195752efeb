import { StringDecoder } from "node:string_decoder";
import { isRecord } from "../../base/is-record.js";
import { quotedCommand } from "../../base/text/quoted-command.js";
import type { Event, EventMsg } from "../../messages/event.js";
import type { FileChanges } from "../../messages/tools/file-change.js";
import type { TokenUsage } from "../../messages/token-usage.js";
import { noTokens } from "../../messages/token-usage.js";

/** Longer output is shortened to what the event of the command's end contains. */
const maxOutputChars = 1024 * 1024;

/** Codex's exit code for a command that was not run. */
const notRun = -1;

/** One line of `codex exec --json`. */
type CodexEvent =
  | { readonly type: "thread.started"; readonly thread_id: string }
  | { readonly type: "turn.started" }
  | { readonly type: "turn.completed"; readonly usage: CodexUsage }
  | { readonly type: "turn.failed"; readonly error: { readonly message: string } }
  | { readonly type: "item.started" | "item.updated" | "item.completed"; readonly item: CodexItem }
  | { readonly type: "error"; readonly message: string };

/** An item with the fields of its type. */
interface CodexItem {
  readonly id: string;
  readonly type: string;
  readonly [field: string]: unknown;
}

/** The tokens of the whole conversation so far. */
type CodexUsage = Omit<TokenUsage, "total_tokens"> & { readonly cache_write_input_tokens: number };

/** An item that was reported as started and has not been completed. */
interface OpenItem {
  readonly id: string;
  /** The fields of the item if its end is never reported. */
  readonly unfinished: () => Readonly<Record<string, unknown>>;
}

/** Translates the events of one conversation into those of `codex exec --json`, numbering the items from 0. */
export class CodexEvents {
  #items = 0;
  readonly #open = new Map<string, OpenItem>();
  readonly #outputs = new Map<string, CommandText>();
  /** Shell calls that have not begun, by call id: if a call is refused, no event says that it began. */
  readonly #requested = new Map<string, string>();
  #plan: { readonly id: string; items: readonly TodoItem[] } | undefined;
  #reasoning: { readonly itemId: string | undefined; readonly texts: string[] } | undefined;
  #usage: TokenUsage = noTokens;

  /** The first event of every run, also of a resumed conversation. */
  started(conversationId: string): CodexEvent {
    return { type: "thread.started", thread_id: conversationId.replace(/^conv_/, "") };
  }

  /** The events to print for an event of the conversation. */
  of({ msg }: Event): CodexEvent[] {
    const isMore = msg.type === "agent_reasoning" && msg.item_id === this.#reasoning?.itemId;
    const isQuiet = msg.type.endsWith("_delta");
    const reasoning = isMore || isQuiet ? [] : this.#endReasoning();
    return [...reasoning, ...this.#translated(msg)];
  }

  #translated(msg: EventMsg): CodexEvent[] {
    switch (msg.type) {
      case "task_started":
        return [{ type: "turn.started" }];
      case "agent_message":
        return [this.#completed("agent_message", { text: msg.message })];
      case "agent_reasoning":
        (this.#reasoning ??= { itemId: msg.item_id, texts: [] }).texts.push(msg.text);
        return [];
      case "raw_response_item":
        return this.#responseItem(msg.item);
      case "exec_command_begin":
        return this.#commandBegins(msg);
      case "exec_command_output_delta":
        this.#outputs.get(msg.call_id)?.add(msg.stream, Buffer.from(msg.chunk, "base64"));
        return [];
      case "exec_command_end":
        return this.#commandEnds(msg);
      case "patch_apply_begin":
        return [this.#start(msg.call_id, "file_change", { changes: fileChanges(msg.changes), status: "in_progress" })];
      case "patch_apply_end":
        return this.#end(msg.call_id, "file_change", (started) => ({
          ...started,
          status: msg.success ? "completed" : "failed",
        }));
      case "mcp_tool_call_begin":
        return [this.#start(msg.call_id, "mcp_tool_call", { ...mcpCall(msg.invocation), ...noMcpResult })];
      case "mcp_tool_call_end":
        return this.#end(msg.call_id, "mcp_tool_call", () => ({
          ...mcpCall(msg.invocation),
          ...mcpResult(msg.result),
        }));
      case "plan_update":
        return this.#planUpdate(
          msg.plan.map(({ step, status }) => ({ text: step, completed: status === "completed" })),
        );
      case "web_search_end":
        return [webSearch(this.#nextId(), msg)];
      case "token_count":
        this.#usage = msg.info?.total_token_usage ?? this.#usage;
        return [];
      case "warning":
        return [this.#completed("error", { message: msg.message })];
      case "stream_error":
        return [{ type: "error", message: reconnecting(msg) }];
      case "error":
        return [{ type: "error", message: msg.message }];
      case "task_complete":
        return [...this.#endOpenItems(), this.#turnEnd(msg)];
      case "turn_aborted":
        return this.#endOpenItems();
      default:
        return [];
    }
  }

  #turnEnd({ error }: Extract<EventMsg, { type: "task_complete" }>): CodexEvent {
    if (error) return { type: "turn.failed", error: { message: error.message } };
    const { total_tokens: _, ...usage } = this.#usage;
    return { type: "turn.completed", usage: { ...usage, cache_write_input_tokens: 0 } };
  }

  /** Remembers shell calls, and reports those that were answered without having begun: they were refused. */
  #responseItem(item: unknown): CodexEvent[] {
    if (!isRecord(item)) return [];
    const { type, call_id: callId, name, arguments: args } = item;
    if (typeof callId !== "string") return [];
    if (type === "function_call" && name === "shell" && typeof args === "string") {
      this.#requested.set(callId, commandOf(args));
    }
    if (type !== "function_call_output") return [];
    const command = this.#requested.get(callId);
    this.#requested.delete(callId);
    if (command === undefined) return [];
    const output = { command, aggregated_output: outputText(item["output"]), exit_code: notRun, status: "declined" };
    return [this.#completed("command_execution", output)];
  }

  #commandBegins(msg: Extract<EventMsg, { type: "exec_command_begin" }>): CodexEvent[] {
    this.#requested.delete(msg.call_id);
    const output = new CommandText();
    this.#outputs.set(msg.call_id, output);
    const command = quotedCommand(msg.command);
    const running = { command, aggregated_output: "", exit_code: null, status: "in_progress" };
    const failed = (): object => ({ ...running, aggregated_output: output.text, status: "failed" });
    return [this.#start(msg.call_id, "command_execution", running, failed)];
  }

  #commandEnds(msg: Extract<EventMsg, { type: "exec_command_end" }>): CodexEvent[] {
    const output = this.#outputs.get(msg.call_id);
    this.#outputs.delete(msg.call_id);
    // Not all output of a long command is streamed.
    const isWhole = output !== undefined && output.bytes >= Buffer.byteLength(msg.stdout + msg.stderr);
    return this.#end(msg.call_id, "command_execution", (started) => ({
      ...started,
      aggregated_output: isWhole ? output.end() : msg.stdout + msg.stderr,
      exit_code: msg.exit_code,
      status: msg.exit_code === 0 ? "completed" : "failed",
    }));
  }

  #planUpdate(items: readonly TodoItem[]): CodexEvent[] {
    const isNew = this.#plan === undefined;
    const plan = (this.#plan ??= { id: this.#nextId(), items });
    plan.items = items;
    return [{ type: isNew ? "item.started" : "item.updated", item: { id: plan.id, type: "todo_list", items } }];
  }

  #endReasoning(): CodexEvent[] {
    const text = this.#reasoning?.texts.join("\n") ?? "";
    this.#reasoning = undefined;
    return text.trim() === "" ? [] : [this.#completed("reasoning", { text })];
  }

  /** Completes what is still open when the turn ends. */
  #endOpenItems(): CodexEvent[] {
    const plan = this.#plan;
    this.#plan = undefined;
    this.#requested.clear();
    this.#outputs.clear();
    const items = [...this.#open.values()].map(({ id, unfinished }) => ({ id, ...unfinished() }) as CodexItem);
    this.#open.clear();
    return [...(plan === undefined ? [] : [{ id: plan.id, type: "todo_list", items: plan.items }]), ...items].map(
      (item) => ({ type: "item.completed", item }),
    );
  }

  #completed(type: string, fields: Readonly<Record<string, unknown>>): CodexEvent {
    return { type: "item.completed", item: { id: this.#nextId(), type, ...fields } };
  }

  #start(
    callId: string,
    type: string,
    fields: Fields,
    unfinished = (): object => ({ ...fields, status: "failed" }),
  ): CodexEvent {
    const id = this.#nextId();
    this.#open.set(callId, { id, unfinished: () => ({ type, ...unfinished() }) });
    return { type: "item.started", item: { id, type, ...fields } };
  }

  #end(callId: string, type: string, fields: (started: Fields) => Fields): CodexEvent[] {
    const open = this.#open.get(callId);
    this.#open.delete(callId);
    const item = fields(open?.unfinished() ?? {});
    return [{ type: "item.completed", item: { id: open?.id ?? this.#nextId(), type, ...item } }];
  }

  #nextId(): string {
    const id = `item_${this.#items}`;
    this.#items += 1;
    return id;
  }
}

type Fields = Readonly<Record<string, unknown>>;

interface TodoItem {
  readonly text: string;
  readonly completed: boolean;
}

/** The output of a running command, both streams in the order of arrival. */
class CommandText {
  readonly #decoders = { stdout: new StringDecoder("utf8"), stderr: new StringDecoder("utf8") };
  text = "";
  bytes = 0;

  add(stream: "stdout" | "stderr", bytes: Buffer): void {
    this.bytes += bytes.length;
    if (this.text.length < maxOutputChars) this.text += this.#decoders[stream].write(bytes);
  }

  end(): string {
    return this.text + this.#decoders.stdout.end() + this.#decoders.stderr.end();
  }
}

/** Codex's text for an attempt to reach the provider again. */
function reconnecting({ message, attempt, max_attempts }: Extract<EventMsg, { type: "stream_error" }>): string {
  return attempt === undefined ? message : `Reconnecting... ${attempt}/${max_attempts ?? attempt} (${message})`;
}

function fileChanges(changes: FileChanges): readonly { readonly path: string; readonly kind: string }[] {
  return Object.entries(changes).map(([path, { type }]) => ({ path, kind: type }));
}

function mcpCall({
  server,
  tool,
  arguments: args,
}: Extract<EventMsg, { type: "mcp_tool_call_begin" }>["invocation"]): Fields {
  return { server, tool, arguments: args ?? null };
}

const noMcpResult = { result: null, error: null, status: "in_progress" };

function mcpResult(result: Extract<EventMsg, { type: "mcp_tool_call_end" }>["result"]): Fields {
  if ("Err" in result) return { result: null, error: { message: result.Err }, status: "failed" };
  const { content, structuredContent = null, isError } = result.Ok;
  return {
    result: { content, structured_content: structuredContent },
    error: null,
    status: isError === true ? "failed" : "completed",
  };
}

/** The item's own `id` is the one of the search, which therefore replaces the number. */
function webSearch(id: string, { query, action }: Extract<EventMsg, { type: "web_search_end" }>): CodexEvent {
  return { type: "item.completed", item: { id, type: "web_search", query, action: action ?? { type: "other" } } };
}

/** The command line of a shell call as the model wrote it. */
function commandOf(args: string): string {
  try {
    const { command } = Object(JSON.parse(args)) as { readonly command?: unknown };
    if (typeof command === "string") return quotedCommand(["sh", "-c", command]);
    if (Array.isArray(command)) return quotedCommand(command.map(String));
  } catch {
    // The call is answered with an error; its text is shown as it is.
  }
  return args;
}

function outputText(output: unknown): string {
  return typeof output === "string" ? output : JSON.stringify(output);
}
