import { isInterruptedOutput } from "../../../base/codex/interrupted-output.js";
import { counted } from "../../../base/text/counted.js";
import { LineReader } from "../../../base/text/shown-lines.js";
import { visible } from "../../../base/text/visible.js";
import { type Event, type EventMsg, isApprovalMsg } from "../../../messages/event.js";
import { webSearchText } from "../../../messages/response-item.js";
import type { TokenUsageInfo } from "../../../messages/token-usage.js";
import type { ApprovalRequest } from "../../../messages/tools/approval.js";
import type { TurnDiff } from "../../../messages/tools/diff.js";
import type { FileChanges } from "../../../messages/tools/file-change.js";
import type { Plan } from "../../../messages/tools/plan.js";
import { commandLine, toolLine } from "../../../rollouts/formats/export/call-line.js";
import { tokenText } from "../../format.js";
import type { ToolSummary } from "../view/entries.js";

/** The most characters of one tool's output that the pager shows; the end is kept. */
const maxDetailChars = 1_000_000;

/** The most lines of the output of a `!` command in the transcript. */
const maxShellLines = 200;
const maxNoteChars = 400;
/** The most characters of all details of a conversation. */
const maxDetailsChars = 8_000_000;
const maxTailLines = 50;
/** The most entries that wait until a conversation is shown; then the older half is dropped. */
const maxEntries = 2_000;

/** The outputs of calls that did not end by themselves. */
const codeFence = /^\s*(?:`{3,}|~{3,})[ \t]*(\S+)/gm;

/** After these, a model call that had failed is not tried again. */
const endsFailures: ReadonlySet<EventMsg["type"]> = new Set([
  "agent_reasoning_delta",
  "agent_reasoning",
  "agent_message_delta",
  "agent_message",
  "tool_call_start",
  "token_count",
  "task_complete",
  "turn_aborted",
  "error",
]);

type MsgOf<T extends EventMsg["type"]> = Extract<EventMsg, { type: T }>;

/** One part of the transcript, which is printed once. */
export type Entry =
  | { readonly type: "user"; readonly text: string; readonly images: number }
  /** A piece of an answer; `isEnd` after the last one. */
  | { readonly type: "answer"; readonly text: string; readonly isEnd: boolean }
  | { readonly type: "reasoning"; readonly text: string; readonly durationMs: number | undefined }
  | { readonly type: "tool"; readonly summary: ToolSummary }
  | { readonly type: "plan"; readonly plan: Plan }
  | { readonly type: "changes"; readonly diff: TurnDiff }
  | { readonly type: "compaction"; readonly before: number; readonly after: number; readonly summary: string }
  | { readonly type: "knowledge"; readonly saved: MsgOf<"knowledge_saved"> }
  | { readonly type: "notice"; readonly kind: "info" | "warning" | "error"; readonly text: string }
  /** A command of the prompt, as it was typed. */
  | { readonly type: "command"; readonly text: string }
  /** Output of a command of the prompt; `isStyled`: with sequences of a theme. */
  | { readonly type: "output"; readonly lines: readonly string[]; readonly isStyled?: boolean };

/** A tool call that runs, or waits for its turn or an approval. */
export interface RunningTool {
  readonly callId: string;
  readonly title: string;
  readonly startedAt: number;
  /** Whether it is known to run, and not only to have been asked for. */
  readonly isStarted: boolean;
  /** The last lines of its output. */
  readonly tail: readonly string[];
}

/** The step of a turn that the activity line names, and when it began. */
export interface Activity {
  readonly label: string;
  readonly since: number;
}

/** The full text behind a line of the transcript, for the pager. */
export interface Detail {
  readonly title: string;
  readonly text: string;
}

interface Call {
  readonly name: string;
  title: string;
  startedAt: number;
  isStarted: boolean;
  readonly output: CommandOutput;
  /** The files of a patch that is being applied. */
  changes: FileChanges | undefined;
  /** Another event has already reported the end. */
  isReported: boolean;
}

/**
 * The state of one conversation for the screen, folded from its events. Finished parts become entries of the
 * transcript, everything else is live state.
 */
export class ConversationState {
  /** Entries that are not printed yet. */
  #entries: Entry[] = [];
  readonly #calls = new Map<string, Call>();
  readonly #details: Detail[] = [];
  /** The user runs a command, and sees its output. */
  #isShellTurn = false;
  #detailChars = 0;
  #requests: ApprovalRequest[] = [];
  /** Requests of which the answer is on its way. */
  readonly #decided = new Set<string>();
  #activity: Activity | undefined;
  #isStreaming = false;
  #reasoning: { text: string; readonly startedAt: number } | undefined;
  /** The reasoning of this model call is in the transcript already. */
  #hasReasoned = false;
  #turnStartedAt: number | undefined;
  /** Failed attempts of the model call that is being tried again. */
  #failures: { readonly reason: string; readonly count: number } | undefined;
  #startingServers = new Set<string>();
  cwd = "";
  usage: TokenUsageInfo | undefined;
  /** Undefined before the first turn has ended. */
  isSaved: boolean | undefined;
  plan: Plan | undefined;
  /** The last answer of the model, for `/copy`. */
  lastAnswer = "";
  #answer = "";

  /** Whether a turn or another long work runs. */
  get isBusy(): boolean {
    return this.#turnStartedAt !== undefined || this.#activity !== undefined;
  }

  get turnStartedAt(): number | undefined {
    return this.#turnStartedAt;
  }

  /** The current activity; undefined if nothing runs. */
  get activity(): Activity | undefined {
    const tool = this.runningTools.find(({ isStarted }) => isStarted);
    if (this.#requests.length > 0 && this.#activity !== undefined) {
      return { label: "Waiting for your approval", since: this.#activity.since };
    }
    // Its own lines say what it is.
    if (tool !== undefined) return { label: "Running", since: tool.startedAt };
    if (this.#activity !== undefined && this.#calls.size > 0) return { ...this.#activity, label: "Starting a call" };
    return this.#activity;
  }

  /** The approval requests that wait for an answer, oldest first. */
  get requests(): readonly ApprovalRequest[] {
    return this.#requests.filter(({ approval_id: id }) => !this.#decided.has(id));
  }

  get runningTools(): RunningTool[] {
    return [...this.#calls].map(([callId, { title, startedAt, isStarted, output }]) => ({
      callId,
      title,
      startedAt,
      isStarted,
      tail: output.tail,
    }));
  }

  /** The full outputs and thoughts so far, oldest first. */
  get details(): readonly Detail[] {
    return this.#details;
  }

  get hasEntries(): boolean {
    return this.#entries.length > 0;
  }

  /** The languages of code in answers that were not printed yet. */
  newLanguages(): string[] {
    return this.#entries.flatMap((entry) =>
      entry.type === "answer" ? [...entry.text.matchAll(codeFence)].map(([, info = ""]) => info) : [],
    );
  }

  /** Returns the entries that were not printed yet. */
  takeEntries(): Entry[] {
    const taken = this.#entries;
    this.#entries = [];
    return taken;
  }

  add(entry: Entry): void {
    const last = this.#entries.at(-1);
    if (entry.type === "answer" && last?.type === "answer" && !last.isEnd) {
      this.#entries[this.#entries.length - 1] = { ...entry, text: last.text + entry.text };
      return;
    }
    this.#entries.push(entry);
    if (this.#entries.length > maxEntries) this.#entries = this.#entries.slice(-maxEntries / 2);
  }

  #addTool(summary: Partial<ToolSummary> & Pick<ToolSummary, "title">): void {
    this.add({ type: "tool", summary: { outcome: "done", ...summary } });
  }

  /** Shows the conversation as working before its first event. */
  begin(label: string, now: number): void {
    this.#activity = { label, since: now };
  }

  /** The work could not begin, so that no event reports its end. */
  idle(): void {
    this.#activity = undefined;
    this.#turnStartedAt = undefined;
  }

  /** Adds the past turns of a resumed conversation to what the pager shows. */
  addDetail(title: string, text: string): void {
    const kept = text.length > maxDetailChars ? `[…]\n${text.slice(-maxDetailChars)}` : text;
    this.#details.push({ title, text: kept });
    this.#detailChars += kept.length;
    while (this.#detailChars > maxDetailsChars && this.#details.length > 1) {
      this.#detailChars -= this.#details.shift()?.text.length ?? 0;
    }
  }

  push({ id, msg }: Event, now: number): void {
    if (endsFailures.has(msg.type)) this.#endFailures(msg.type);
    switch (msg.type) {
      case "session_configured":
        this.cwd = msg.cwd;
        return;
      case "task_started":
        this.#turnStartedAt = now;
        this.#wait("Waiting for the model", now);
        return;
      case "user_message":
        this.#isShellTurn = msg.message.startsWith("!");
        this.add({ type: "user", text: msg.message, images: msg.images?.length ?? 0 });
        return;
      case "agent_reasoning_delta":
        this.#reasoning ??= { text: "", startedAt: now };
        this.#reasoning.text += msg.delta;
        this.#wait("Thinking", now);
        return;
      case "agent_reasoning":
        if (this.#reasoning !== undefined || !this.#hasReasoned) this.#endReasoning(now, msg.text);
        this.#wait("Waiting for the model", now);
        return;
      case "agent_message_delta":
        this.#endReasoning(now);
        this.#isStreaming = true;
        this.#answer += msg.delta;
        this.add({ type: "answer", text: msg.delta, isEnd: false });
        this.#wait("Answering", now);
        return;
      case "agent_message":
        this.#endReasoning(now);
        this.add({ type: "answer", text: this.#isStreaming ? "" : msg.message, isEnd: true });
        this.#isStreaming = false;
        this.lastAnswer = msg.message;
        this.#answer = "";
        this.#wait("Waiting for the model", now);
        return;
      case "tool_call_start":
        this.#endReasoning(now);
        this.#endAnswer();
        this.#wait(`Writing a call of ${visible(msg.name)}`, now);
        return;
      case "tool_call_end":
        this.#wait("Waiting for the model", now);
        return;
      case "raw_response_item":
        this.#item(Object(msg.item) as Readonly<Record<string, unknown>>, now);
        return;
      case "exec_approval_request":
      case "apply_patch_approval_request":
        this.#ask(msg, now);
        return;
      case "exec_command_begin":
        this.#beginCommand(msg, now);
        return;
      case "exec_command_output_delta":
        this.#calls.get(msg.call_id)?.output.add(msg.stream, Buffer.from(msg.chunk, "base64"));
        return;
      case "exec_command_end":
        this.#endCommand(msg);
        return;
      case "patch_apply_begin": {
        this.#answered(msg.call_id);
        const call = this.#call(msg.call_id, "apply_patch", "apply_patch", now);
        call.changes = msg.changes;
        call.isStarted = true;
        return;
      }
      case "patch_apply_end":
        this.#endPatch(msg);
        return;
      case "mcp_tool_call_begin": {
        const { server, tool } = msg.invocation;
        const call = this.#call(msg.call_id, tool, visible(`${server} ${tool}`), now);
        call.isStarted = true;
        call.startedAt = now;
        return;
      }
      case "mcp_tool_call_end":
        this.#endServerCall(msg);
        return;
      case "web_search_end":
        this.#addTool({ title: visible(webSearchText(msg.action ?? msg)) });
        return;
      case "plan_update": {
        const { type: _, ...plan } = msg;
        this.plan = plan;
        this.add({ type: "plan", plan });
        return;
      }
      case "turn_diff": {
        const { type: _, ...diff } = msg;
        this.add({ type: "changes", diff });
        return;
      }
      case "token_count":
        if (msg.info !== null) this.usage = msg.info;
        this.#hasReasoned = false;
        return;
      case "task_complete":
        this.#endTurn(now);
        this.isSaved = msg.saved;
        if (msg.truncated === true)
          this.#notice("warning", "The answer is incomplete: the model reached its output limit.");
        return;
      case "turn_aborted":
        this.#endTurn(now);
        this.isSaved = msg.saved;
        this.#notice("info", id === "" ? "The last turn was interrupted before it ended." : "Interrupted.");
        return;
      case "compaction_prepare":
        return;
      case "compaction_start":
        this.#wait(`Compacting the context (${tokenText(msg.estimated_tokens)} tokens)`, now);
        return;
      case "compaction_end":
        if (msg.outcome === "compacted") {
          const { tokens_before: before, tokens_after: after, summary } = msg;
          this.add({ type: "compaction", before, after, summary });
        }
        if (this.#turnStartedAt === undefined) this.#activity = undefined;
        else this.#wait("Waiting for the model", now);
        return;
      case "stream_error":
        this.#failed(msg, now);
        return;
      case "warning":
        this.#notice("warning", msg.message);
        return;
      case "error":
        this.#notice("error", msg.message);
        // Refused before its turn began: no other event follows.
        if (this.#turnStartedAt === undefined) this.#activity = undefined;
        return;
      case "secrets_redacted":
        this.#notice("info", `${counted(msg.count, "secret")} ${msg.count === 1 ? "was" : "were"} not written to disk`);
        return;
      case "knowledge_saved":
        this.add({ type: "knowledge", saved: msg });
        return;
      case "mcp_startup_update":
        this.#server(msg);
        return;
      case "lagged":
        this.#notice("warning", `Not shown: events ${msg.from} to ${msg.to}`);
        return;
      default:
        return;
    }
  }

  #wait(label: string, now: number): void {
    if (this.#activity?.label === label) return;
    this.#activity = { label, since: now };
  }

  /** The activity line counts attempts. What an answer was before it broke off is printed, and needs an explanation. */
  #failed({ message }: MsgOf<"stream_error">, now: number): void {
    const reason = message.replace(/; retrying in [^;]*$/, "");
    if (this.#isStreaming) {
      this.#notice("warning", `${reason}. The answer starts over.`);
      this.#failures = undefined;
    } else {
      const { count } = this.#failures ?? { count: 0 };
      this.#failures = { reason, count: count + 1 };
    }
    this.#wait(message, now);
  }

  #endFailures(by: EventMsg["type"]): void {
    const failures = this.#failures;
    this.#failures = undefined;
    if (failures === undefined) return;
    const { reason, count } = failures;
    const retries = by === "turn_aborted" ? count - 1 : count;
    const times = retries === 0 ? "" : `tried again ${retries === 1 ? "once" : `${retries} times`}`;
    // A final error gives the reason itself.
    if (by === "error") this.#notice("warning", `The model did not answer: ${times}`);
    else this.#notice("warning", times === "" ? reason : `${reason} (${times})`);
  }

  #notice(kind: "info" | "warning" | "error", text: string): void {
    this.#endAnswer();
    this.add({ type: "notice", kind, text });
  }

  #endReasoning(now: number, text?: string): void {
    const open = this.#reasoning;
    const whole = text ?? open?.text ?? "";
    this.#reasoning = undefined;
    if (whole.trim() === "") return;
    this.#hasReasoned = true;
    this.add({ type: "reasoning", text: whole, durationMs: open && now - open.startedAt });
    this.addDetail("Reasoning", whole);
  }

  /** Ends an answer of which no more will come. */
  #endAnswer(): void {
    if (!this.#isStreaming) return;
    this.#isStreaming = false;
    this.lastAnswer = this.#answer;
    this.#answer = "";
    this.add({ type: "answer", text: "", isEnd: true });
  }

  #item(item: Readonly<Record<string, unknown>>, now: number): void {
    const { type, call_id: callId, name } = item;
    if (typeof type !== "string" || typeof callId !== "string") return;
    if (type === "function_call_output" || type === "custom_tool_call_output") return this.#output(callId, item);
    const input = item["arguments"] ?? item["input"];
    if (typeof name !== "string" || typeof input !== "string") return;
    this.#endReasoning(now);
    this.#endAnswer();
    this.#call(callId, name, toolLine(name, input), now);
  }

  /** The output of a call of which no other event reports the end. */
  #output(callId: string, { success, output }: Readonly<Record<string, unknown>>): void {
    this.#answered(callId);
    const call = this.#calls.get(callId);
    if (call === undefined) return;
    this.#calls.delete(callId);
    if (call.isReported || (call.name === "update_plan" && success !== false)) return;
    const text = textOf(output);
    this.addDetail(call.title, text);
    const [first = ""] = text.trimStart().split("\n");
    const lineCount = text === "" ? 0 : text.trimEnd().split("\n").length;
    const isRefused = success === false && /refused|denied|rejected/.test(first);
    const isInterrupted = text.trim() === "aborted by the user" || isInterruptedOutput(text.trim());
    this.#addTool({
      title: call.title,
      ...(isInterrupted ? { outcome: "interrupted" } : {}),
      ...(success === false ? { outcome: isRefused ? "refused" : "failed" } : {}),
      ...(success === false || lineCount === 1 ? { detail: first.slice(0, maxNoteChars) } : { outputLines: lineCount }),
    });
  }

  #call(callId: string, name: string, title: string, now: number): Call {
    const known = this.#calls.get(callId);
    if (known !== undefined) return known;
    const call: Call = {
      name,
      title,
      startedAt: now,
      isStarted: false,
      output: new CommandOutput(),
      changes: undefined,
      isReported: false,
    };
    this.#calls.set(callId, call);
    return call;
  }

  #ask(msg: EventMsg, now: number): void {
    if (!isApprovalMsg(msg)) return;
    const { type: _, ...request } = msg;
    if (this.#requests.some(({ approval_id: id }) => id === request.approval_id)) return;
    this.#requests = [...this.#requests, request];
    this.#turnStartedAt ??= now;
    this.#activity = { label: "Waiting for your approval", since: now };
  }

  /** An answer was sent: no other key answers the request. */
  decide(approvalId: string): void {
    this.#decided.add(approvalId);
  }

  /** The answer could not be sent. */
  undecide(approvalId: string): void {
    this.#decided.delete(approvalId);
  }

  /** A request of which the call runs or has ended is closed, whoever has answered it. */
  #answered(callId: string): void {
    if (this.#requests.length > 0) this.#requests = this.#requests.filter(({ call_id: id }) => id !== callId);
  }

  #beginCommand({ call_id, command, cwd }: MsgOf<"exec_command_begin">, now: number): void {
    this.#answered(call_id);
    const place = cwd === this.cwd || this.cwd === "" ? "" : `  (in ${visible(cwd)})`;
    const call = this.#call(call_id, "shell", "", now);
    call.title = `${commandLine(command)}${place}`;
    call.startedAt = now;
    call.isStarted = true;
  }

  #endCommand({ call_id, exit_code, stdout, stderr, duration }: MsgOf<"exec_command_end">): void {
    const call = this.#calls.get(call_id);
    if (call === undefined) return;
    // The reason for which a command did not start is not streamed.
    if (call.output.isEmpty) {
      call.output.add("stdout", Buffer.from(stdout));
      call.output.add("stderr", Buffer.from(stderr));
    }
    call.output.end();
    call.isReported = true;
    this.addDetail(call.title, call.output.text);
    call.isStarted = false;
    if (this.#isShellTurn && !call.output.isEmpty) {
      this.add({ type: "output", lines: newestLines(call.output.text) });
      if (exit_code === 0) return;
    }
    this.#addTool({
      title: call.title,
      ...(exit_code === 0 ? {} : { outcome: "failed", detail: `exit code ${exit_code}` }),
      elapsedMs: milliseconds(duration),
      tail: call.output.tail,
      outputLines: call.output.lineCount,
    });
  }

  #endPatch({ call_id, success, stderr }: MsgOf<"patch_apply_end">): void {
    const call = this.#calls.get(call_id);
    if (call === undefined) return;
    call.isReported = true;
    call.isStarted = false;
    if (success) this.#addTool({ title: call.title, changes: call.changes, cwd: this.cwd });
    else this.#addTool({ title: call.title, outcome: "failed", detail: stderr.slice(0, maxNoteChars) });
  }

  #endServerCall({ call_id, result, duration, invocation }: MsgOf<"mcp_tool_call_end">): void {
    const call = this.#calls.get(call_id);
    if (call !== undefined) call.isReported = true;
    const text =
      "Err" in result
        ? result.Err
        : result.Ok.content.flatMap((part) => (typeof part["text"] === "string" ? [part["text"]] : [])).join("\n");
    const isFailed = "Err" in result || result.Ok.isError === true;
    const title = call?.title ?? visible(`${invocation.server} ${invocation.tool}`);
    const [first = ""] = text.trimStart().split("\n");
    this.addDetail(title, text);
    const detail = first.slice(0, maxNoteChars);
    this.#addTool({ title, outcome: isFailed ? "failed" : "done", detail, elapsedMs: milliseconds(duration) });
  }

  #server({ server, status }: MsgOf<"mcp_startup_update">): void {
    if (status.state === "starting") this.#startingServers.add(server);
    else this.#startingServers.delete(server);
    if (status.state === "failed")
      this.#notice("warning", `MCP server ${server} is not available: ${visible(status.error)}`);
  }

  #endTurn(now: number): void {
    this.#endReasoning(now);
    this.#endAnswer();
    for (const [callId, call] of this.#calls) {
      this.#calls.delete(callId);
      if (call.isReported) continue;
      call.output.end();
      this.addDetail(call.title, call.output.text);
      this.#addTool({ title: call.title, outcome: "interrupted", tail: call.output.tail });
    }
    this.#requests = [];
    this.#activity = undefined;
    this.#turnStartedAt = undefined;
  }
}

function milliseconds({ secs, nanos }: { readonly secs: number; readonly nanos: number }): number {
  return secs * 1_000 + nanos / 1_000_000;
}

/** The output of a command that the user has run with `!`; all of it is in the pager. */
function newestLines(text: string): string[] {
  const lines = text.split("\n");
  const cut = lines.length - maxShellLines;
  return cut <= 0 ? lines : [`… ${counted(cut, "earlier line")} · ctrl-o`, ...lines.slice(cut)];
}

function textOf(output: unknown): string {
  if (typeof output === "string") return output;
  if (!Array.isArray(output)) return "";
  return output
    .flatMap((part) => {
      const text: unknown = Object(part)["text"];
      return typeof text === "string" ? [text] : [];
    })
    .join("\n");
}

/** The output of a running command: its last lines, and a bounded part of its text. */
class CommandOutput {
  readonly #streams = { stdout: new LineReader(), stderr: new LineReader() };
  #tail: string[] = [];
  #lines: string[] = [];
  #chars = 0;
  #dropped = 0;
  lineCount = 0;
  isEmpty = true;

  get tail(): readonly string[] {
    return this.#tail;
  }

  /** A bounded part of the text: its end. */
  get text(): string {
    const cut = this.#dropped > 0 ? [`[${counted(this.#dropped, "earlier line")} not kept]`] : [];
    return [...cut, ...this.#lines].join("\n");
  }

  add(stream: "stdout" | "stderr", bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.isEmpty = false;
    this.#addLines(this.#streams[stream].read(bytes));
  }

  end(): void {
    this.#addLines([...this.#streams.stdout.end(), ...this.#streams.stderr.end()]);
  }

  #addLines(lines: readonly string[]): void {
    if (lines.length === 0) return;
    this.lineCount += lines.length;
    this.#tail = [...this.#tail, ...lines].slice(-maxTailLines);
    for (const line of lines) {
      this.#lines.push(line);
      this.#chars += line.length;
    }
    if (this.#chars <= maxDetailChars) return;
    // Half of them, so that this is rare.
    let count = 0;
    while (this.#chars > maxDetailChars / 2) {
      this.#chars -= this.#lines[count]?.length ?? 0;
      count += 1;
    }
    this.#lines = this.#lines.slice(count);
    this.#dropped += count;
  }
}
