import { access, constants, stat, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { Conversation } from "../../../actors/conversation/handle.js";
import { systemReason } from "../../../base/system-error.js";
import type { Event, EventMsg } from "../../../messages/event.js";
import type { Op } from "../../../messages/submission.js";
import type { UserInput } from "../../../messages/user-input.js";
import { parseOverride, unknownOverrides } from "../../arguments/config-flags.js";
import { CommandError, exitCodes, usageError } from "../../command-error.js";
import { type ContextOf, nameFlag } from "../../context.js";
import { findTarget } from "../../conversations/choose-conversation.js";
import { newestConversation } from "../../conversations/project-conversations.js";
import { reportSchemaMismatch, type SchemaInFile, schemaOf } from "../../headless/answer-schema.js";
import { CodexEvents } from "../../headless/codex-events.js";
import { unattended } from "../../headless/unattended.js";
import { refusingApprover } from "../../terminal/approval.js";
import { watchSignals } from "../../terminal/interruption.js";
import type { Output } from "../../terminal/output.js";
import { readAll, withPipedInput } from "../../terminal/read-input.js";
import { problemRenderer, type Renderer, rendererFor } from "../../terminal/render.js";
import type { Terminal } from "../../terminal/terminal.js";
import { TurnPlayer, type TurnOutcome } from "../../terminal/turn-player.js";
import { openWorkspace, type Workspace } from "../../workspace.js";

type ExecContext = ContextOf<"exec">;

/** Settings of Codex's SDK that change nothing in cody. */
const ignoredSettings = new Set(["model_reasoning_effort", "web_search"]);

/**
 * Runs one prompt without asking anybody: stdout is the answer, or with --json the events of `codex exec --json`;
 * everything else is on stderr.
 */
export async function execCommand(given: ExecContext): Promise<number> {
  if (given.flags.outputFormat !== undefined || given.flags.inputFormat !== undefined) {
    const { execStream } = await import("./exec-stream.js");
    return await execStream(given);
  }
  using interruption = watchSignals(given.terminal);
  const context = unattended(withCostLimit(given));
  const schema = await schemaOf(context);
  const { resumes, words } = requestOf(context);
  if (context.flags.output !== undefined) await checkWritable(resolve(context.terminal.cwd, context.flags.output));
  for (const key of unknownOverrides(context.flags.config).filter((name) => !ignoredSettings.has(name))) {
    await context.tell(`--config ${key} is ignored: cody has no such setting`);
  }
  await using workspace = await openWorkspace(context, { control: "cli" });
  const prompt = await promptOf(context, words, interruption.signal);
  if (interruption.exitCode !== undefined) return interruption.exitCode;
  const conversation = await openConversation(context, workspace, resumes);
  const run = new ExecRun(context, conversation);
  const player = new TurnPlayer(conversation, run.renderer);
  const options = { signal: interruption.signal, approve: refusingApprover(context) };
  await run.begin();
  const before = await player.open(options);
  const outcome = await player.play(inputOf(context, prompt, schema), options);
  const exitCode = await run.end(schema, [before, outcome]);
  return interruption.exitCode ?? exitCode;
}

/** The cost of a single run is the cost of its turn. */
function withCostLimit(context: ExecContext): ExecContext {
  const { maxCost, config = [] } = context.flags;
  if (maxCost === undefined) return context;
  return { ...context, flags: { ...context.flags, config: [...config, `turnLimits.cost=${maxCost}`] } };
}

/** The conversation to continue, if any, and the words of the prompt. */
interface ExecRequest {
  readonly resumes: { readonly id: string } | "latest" | undefined;
  readonly words: readonly string[];
}

function requestOf({ args, flags }: ExecContext): ExecRequest {
  const [first, ...others] = args;
  if (flags.resume !== undefined || flags.continue) {
    if (first === "resume" || flags.last)
      throw usageError("--resume and --continue: choose the conversation only once");
    return { resumes: typeof flags.resume === "string" ? { id: flags.resume } : "latest", words: args };
  }
  if (first !== "resume") {
    if (flags.last) throw usageError("--last is only for: cody exec resume --last");
    return { resumes: undefined, words: args };
  }
  if (flags.last) return { resumes: "latest", words: others };
  const [id, ...words] = others;
  if (id === undefined) throw usageError("Missing argument: id", 'Usage: cody exec resume <id>|--last "your message"');
  return { resumes: { id }, words };
}

/** The prompt of the arguments, with piped stdin appended; without one, or for `-`, stdin is the prompt. */
async function promptOf(context: ExecContext, words: readonly string[], signal: AbortSignal): Promise<Prompt> {
  const prompt = words.join(" ");
  const isStdin = prompt.trim() === "" || prompt === "-";
  const { terminal, flags } = context;
  if (isStdin && (terminal.stdin.isTTY === true || flags.noStdin)) {
    throw usageError("Nothing to send: the prompt is empty", 'Usage: cody exec "your message"');
  }
  const text = isStdin ? await readAll(terminal.stdin, signal) : await withPipedInput(context, prompt, signal);
  if (text.trim() === "" && !signal.aborted) {
    throw usageError("Nothing to send: stdin is empty", 'Usage: cody exec "your message"');
  }
  return { text, isPiped: !isStdin && text !== prompt };
}

interface Prompt {
  readonly text: string;
  /** True if another program's output follows the prompt. Such output may tell the model what to save. */
  readonly isPiped: boolean;
}

async function openConversation(
  context: ExecContext,
  workspace: Workspace,
  resumes: ExecRequest["resumes"],
): Promise<Conversation> {
  const effort = context.flags.config?.map(parseOverride).find(({ key }) => key === "model_reasoning_effort")?.value;
  const options = effort === undefined ? {} : { effort };
  workspace.plan("other");
  if (resumes === undefined) return (await workspace.create({ ...nameFlag(context), ...options })).conversation;
  // The run that began it may have been interrupted before its first turn.
  const resuming = { ...options, allowEmpty: true };
  if (resumes !== "latest") {
    return await workspace.resume(await findTarget(context, workspace.places, resumes.id), resuming);
  }
  const newest = await newestConversation(context, workspace.places, workspace.key.projectRoot);
  if (newest === undefined) {
    throw new CommandError("No saved conversation in this project", exitCodes.failed, ["List available: cody list"]);
  }
  return await workspace.resume({ id: newest }, resuming);
}

function inputOf({ flags, terminal }: ExecContext, { text, isPiped }: Prompt, schema: SchemaInFile | undefined): Op {
  const files = (flags.image ?? []).flatMap((paths) => paths.split(",")).filter(Boolean);
  const images = files.map((path): UserInput => ({ type: "local_image", path: resolve(terminal.cwd, path) }));
  const items = [...images, { type: "text" as const, text }];
  const outside = isPiped ? { outside_content: true } : {};
  const format = schema === undefined ? {} : { final_output_json_schema: schema.schema };
  return { type: "user_input", items, ...outside, ...format };
}

/** One run: shows its events, and remembers what its end depends on. */
class ExecRun {
  readonly #context: ExecContext;
  readonly #conversation: Conversation;
  readonly #codex = new CodexEvents();
  readonly #showProblem: Renderer;
  readonly #showProgress: Renderer;
  #answer: string | null = null;
  #isSaved = true;
  #isLimited = false;
  /** A message of the model that may turn out to be its answer. */
  #held: Event | undefined;

  constructor(context: ExecContext, conversation: Conversation) {
    this.#context = context;
    this.#conversation = conversation;
    this.#showProblem = problemRenderer(context);
    const { terminal } = context;
    const onStderr = Object.create(terminal, { stdout: { get: (): Output => terminal.stderr } }) as Terminal;
    this.#showProgress = context.flags.quiet
      ? this.#showProblem
      : rendererFor({ ...context, terminal: onStderr }, "stderr");
  }

  get renderer(): Renderer {
    const { json } = this.#context.flags;
    const render = async (event: Event): Promise<void> => {
      this.#note(event.msg);
      await (json ? this.#print(event) : this.#show(event));
    };
    return Object.assign(render, { stop: async () => await (json ? undefined : this.#showProgress.stop?.()) });
  }

  async begin(): Promise<void> {
    const { context, conversation } = { context: this.#context, conversation: this.#conversation };
    if (context.flags.json) await this.#write([this.#codex.started(conversation.id)]);
    else if (!context.flags.quiet) await context.tell(`Conversation: ${conversation.id}`);
    if (conversation.notice !== undefined) await context.tell(conversation.notice);
  }

  /** Prints the answer and resolves with the exit code. */
  async end(schema: SchemaInFile | undefined, outcomes: readonly (TurnOutcome | undefined)[]): Promise<number> {
    const { flags, terminal } = this.#context;
    const isAnswered = outcomes.every((outcome) => outcome === undefined || isAnswer(outcome));
    if (isAnswered && this.#answer !== null) {
      if (!flags.json) await terminal.stdout.write(`${this.#answer.trimEnd()}\n`);
      if (flags.output !== undefined) await this.#writeAnswer(flags.output, this.#answer);
    }
    // Programs for Codex expect its exit codes.
    if (flags.json) return isAnswered ? 0 : exitCodes.failed;
    if (!isAnswered) return this.#isLimited ? exitCodes.limit : exitCodes.failed;
    if (outcomes.includes("refused")) return exitCodes.unapproved;
    if (outcomes.includes("truncated")) return exitCodes.truncated;
    if (schema !== undefined && !(await reportSchemaMismatch(this.#context, this.#answer, schema))) {
      return exitCodes.failed;
    }
    return this.#isSaved ? 0 : exitCodes.notSaved;
  }

  #note(msg: EventMsg): void {
    if (msg.type === "error") this.#isLimited = msg.codex_error_info === "limit_reached";
    if (msg.type !== "task_complete") return;
    this.#answer = msg.last_agent_message;
    this.#isSaved = msg.saved !== false || this.#context.flags.noPersistence;
  }

  async #print(event: Event): Promise<void> {
    await this.#write(this.#codex.of(event));
    await this.#showProblem(event);
  }

  async #write(lines: readonly object[]): Promise<void> {
    if (lines.length === 0) return;
    await this.#context.terminal.stdout.writeExact(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  }

  /** Shows everything but the answer, which is known only when the turn ends. */
  async #show(event: Event): Promise<void> {
    const { type } = event.msg;
    if (type === "agent_message_delta") return;
    if (type === "task_complete" || type === "turn_aborted") this.#held = undefined;
    const isNext = type === "agent_message" || type === "exec_command_begin" || type === "patch_apply_begin";
    const held = isNext || type === "mcp_tool_call_begin" ? this.#held : undefined;
    if (held !== undefined) {
      this.#held = undefined;
      await this.#showProgress(held);
    }
    if (type === "agent_message") this.#held = event;
    else await this.#showProgress(event);
  }

  async #writeAnswer(file: string, answer: string): Promise<void> {
    const path = resolve(this.#context.terminal.cwd, file);
    await writeFile(path, answer).catch((error: NodeJS.ErrnoException) => {
      throw new CommandError(`Cannot write the answer to ${path}: ${systemReason(error)}`, exitCodes.failed);
    });
  }
}

/** Reports before the turn is paid for that its answer cannot be written. */
async function checkWritable(path: string): Promise<void> {
  const problem = await writeProblem(path);
  if (problem === undefined) return;
  throw new CommandError(`--output ${path}: cannot write the answer: ${problem}`, exitCodes.usage, [
    "Nothing was sent. Choose a file in a folder that exists and is writable",
  ]);
}

async function writeProblem(path: string): Promise<string | undefined> {
  try {
    const existing = await stat(path).catch(undefinedIfMissing);
    if (existing?.isDirectory() === true) return "it is a folder";
    if (existing === undefined && (await stat(dirname(path)).catch(undefinedIfMissing)) === undefined)
      return `there is no folder ${dirname(path)}`;
    await access(existing === undefined ? dirname(path) : path, constants.W_OK);
    return undefined;
  } catch (error) {
    return systemReason(error);
  }
}

function undefinedIfMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") throw error;
}

function isAnswer(outcome: TurnOutcome): boolean {
  return outcome === "answered" || outcome === "truncated" || outcome === "refused";
}
