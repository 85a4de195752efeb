import type { EventMsg } from "../../messages/event.js";
import type { CommandContext } from "../context.js";
import { compactedText, tokenText } from "../format.js";
import type { Terminal } from "./terminal.js";

/** The delay before the line is shown: a shorter silence needs no explanation. */
const showAfterMs = 500;

/** The line shows the elapsed time from this many seconds on. */
const countFromSeconds = 2;

/** Events that print nothing, so that the line may stay. */
const silent: ReadonlySet<EventMsg["type"]> = new Set([
  "token_count",
  "agent_reasoning",
  "agent_reasoning_delta",
  "tool_call_start",
  "tool_call_delta",
  "tool_call_end",
  "user_message",
  "mcp_startup_complete",
  "turn_limit_reached",
]);

const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const frameMs = 100;
/** The width of a frame and the space after it. */
const frameCells = 2;

/**
 * An animated line on stderr that says what cody is waiting for. It takes one terminal row and is erased before
 * anything else is written. Without a suitable terminal nothing is shown.
 */
export class StatusLine {
  readonly #terminal: Terminal;
  #timer: NodeJS.Timeout | undefined;
  #isDrawn = false;
  #isWriting = false;
  #frame = -1;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  /** Shows the text now, or after a delay. Resolves with false if there is no terminal to show it on. */
  async show(text: () => string, afterMs = 0): Promise<boolean> {
    await this.clear();
    if (!this.#fits(text())) return false;
    const draw = (): void => {
      this.#timer = setTimeout(draw, frameMs).unref();
      this.#draw(text());
    };
    if (afterMs === 0) draw();
    else this.#timer = setTimeout(draw, afterMs).unref();
    return true;
  }

  async clear(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (!this.#isDrawn) return;
    this.#isDrawn = false;
    await this.#terminal.stderr.eraseLine();
  }

  /** Writes the line in one call, so that no other output comes between its parts. Skips a terminal that is stopped. */
  #draw(text: string): void {
    // The terminal may have become narrower.
    if (this.#isWriting || !this.#fits(text)) return;
    const { stderr } = this.#terminal;
    if (this.#isDrawn) void stderr.eraseLine();
    this.#frame = (this.#frame + 1) % frames.length;
    this.#isDrawn = true;
    this.#isWriting = true;
    void stderr.write(`${frames[this.#frame]} ${text}`).then(this.#onWritten);
  }

  readonly #onWritten = (): void => void (this.#isWriting = false);

  /** A text that takes more than one row could not be erased. */
  #fits(text: string): boolean {
    const { stderr, env } = this.#terminal;
    const { isTTY, columns = 0 } = stderr;
    return isTTY && env["TERM"] !== "dumb" && text.length + frameCells < columns;
  }
}

/** Shows that a turn waits for the model: no part of an answer has arrived yet, and no tool is running. */
export class ModelWait {
  readonly #status: StatusLine;
  readonly #now: () => number;
  readonly #runningCalls = new Set<string>();
  #isTurn = false;
  #isStreaming = false;
  #isCompacting = false;
  #isThinking = false;
  #startedAt = 0;

  constructor(status: StatusLine, now: () => number) {
    this.#status = status;
    this.#now = now;
  }

  /** Call before an event is shown. */
  async before({ type }: EventMsg): Promise<void> {
    if (!silent.has(type)) await this.#status.clear();
  }

  /** Call after an event has been shown. */
  async after(msg: EventMsg): Promise<void> {
    const wasWaiting = this.#isWaiting;
    this.#note(msg);
    if (!this.#isWaiting || silent.has(msg.type)) return;
    if (!wasWaiting) this.#startedAt = this.#now();
    await this.#status.show(() => this.#text(), showAfterMs);
  }

  get #isWaiting(): boolean {
    return this.#isTurn && !this.#isStreaming && !this.#isCompacting && this.#runningCalls.size === 0;
  }

  #text(): string {
    const seconds = Math.floor((this.#now() - this.#startedAt) / 1_000);
    const elapsed = seconds < countFromSeconds ? "" : ` ${seconds}s`;
    return `${this.#isThinking ? "Thinking" : "Waiting for the model"}...${elapsed}`;
  }

  #note(msg: EventMsg): void {
    if (msg.type !== "agent_reasoning_delta" && !silent.has(msg.type)) this.#isThinking = false;
    switch (msg.type) {
      case "task_started":
        this.#isTurn = true;
        this.#isStreaming = false;
        this.#runningCalls.clear();
        break;
      case "task_complete":
      case "turn_aborted":
        this.#isTurn = false;
        break;
      case "agent_reasoning_delta":
        this.#isThinking = true;
        break;
      case "agent_message":
      case "agent_message_delta":
        this.#isStreaming = true;
        break;
      // After `agent_message` the turn ends, unless a call follows.
      case "stream_error":
        this.#isStreaming = false;
        break;
      case "compaction_start":
        this.#isStreaming = false;
        this.#isCompacting = true;
        break;
      case "compaction_end":
        this.#isCompacting = false;
        break;
      // A turn that waited for an approval since a crash has no `task_started` in this process.
      case "exec_approval_request":
      case "apply_patch_approval_request":
        this.#isTurn = true;
        this.#runningCalls.add(msg.call_id);
        break;
      case "raw_response_item":
        this.#noteItem(msg.item);
        break;
      default:
        break;
    }
  }

  #noteItem(item: unknown): void {
    const { type, call_id } = item as { readonly type?: unknown; readonly call_id?: unknown };
    if (typeof type !== "string" || typeof call_id !== "string") return;
    this.#isStreaming = false;
    if (type.endsWith("_output")) this.#runningCalls.delete(call_id);
    else this.#runningCalls.add(call_id);
  }
}

type MsgOf<T extends EventMsg["type"]> = Extract<EventMsg, { type: T }>;

/** Shows that a compaction is running: an animated line on a terminal, otherwise one line on stderr. */
export class CompactionProgress {
  readonly #context: CommandContext;
  readonly #status: StatusLine;
  #isPreparing = false;

  constructor(context: CommandContext, status: StatusLine) {
    this.#context = context;
    this.#status = status;
  }

  /** Reports a background summary. If it has to be made again, the line is not repeated. */
  async prepare({ estimated_tokens }: MsgOf<"compaction_prepare">): Promise<void> {
    if (this.#isPreparing) return;
    this.#isPreparing = true;
    await this.#context.tell(
      `Preparing to compact context in the background (${tokenText(estimated_tokens)} tokens)...`,
    );
  }

  async begin({ estimated_tokens }: MsgOf<"compaction_start">): Promise<void> {
    const tokens = `(${tokenText(estimated_tokens)} tokens)`;
    const isShown = await this.#status.show(() => `Compacting context ${tokens}...`);
    if (!isShown) await this.#context.tell(`Compacting conversation history... ${tokens}`);
  }

  /** A warning event reports why nothing was compacted. */
  async end({ outcome, tokens_before, tokens_after }: MsgOf<"compaction_end">): Promise<void> {
    this.#isPreparing = false;
    await this.clear();
    if (outcome === "compacted") await this.#context.tell(compactedText(tokens_before, tokens_after));
  }

  /** Call before anything else is written. */
  async clear(): Promise<void> {
    await this.#status.clear();
  }
}
