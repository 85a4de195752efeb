import type { Conversation } from "../../../actors/conversation/handle.js";
import { toHookTool } from "../../../actors/conversation/hooks/tool-names.js";
import { conversationName } from "../../../base/text/conversation-name.js";
import { shownId } from "../../../base/text/conversation-id.js";
import type { Op } from "../../../messages/submission.js";
import type { Initialize, StreamRequest, StreamUserMessage } from "../../../messages/stream-json.js";
import { type ApprovalRequest, isApproval } from "../../../messages/tools/approval.js";
import { sandboxPolicy } from "../../../messages/tools/policy.js";
import type { UserInput } from "../../../messages/user-input.js";
import { builtInTools } from "../../../tools/toolbox.js";
import { version } from "../../../version.js";
import { exitCodes, usageError } from "../../command-error.js";
import { type ContextOf, currentTime } from "../../context.js";
import { chooseByFlags } from "../../conversations/choose-conversation.js";
import { describeError } from "../../describe-error.js";
import { type SchemaInFile, schemaIn, schemaOf } from "../../headless/answer-schema.js";
import {
  type ChosenTools,
  chosenTools,
  decisionOf,
  type PermissionMode,
  permissionMode,
  permissionModes,
  refused,
  ruleList,
} from "../../headless/stream-json/permissions.js";
import { StreamConnection } from "../../headless/stream-json/stream-connection.js";
import { type StreamMessage, StreamMessages } from "../../headless/stream-json/stream-messages.js";
import { unattended } from "../../headless/unattended.js";
import type { Approver } from "../../terminal/approval.js";
import { noApproverReason } from "../../terminal/approval-text.js";
import { type Interruption, watchSignals } from "../../terminal/interruption.js";
import { problemRenderer } from "../../terminal/render.js";
import { TurnPlayer, type TurnOutcome } from "../../terminal/turn-player.js";
import { openWorkspace, type Workspace } from "../../workspace.js";

type ExecContext = ContextOf<"exec">;

/** Serves one program over Claude Code's stream-json protocol, as the Claude Agent SDK starts it. */
export async function execStream(given: ExecContext): Promise<number> {
  const { flags } = given;
  if (flags.outputFormat !== "stream-json" || flags.inputFormat !== "stream-json") {
    throw usageError("--output-format and --input-format: only stream-json, for both", "See: docs/exec.md");
  }
  if (given.args.length > 0) throw usageError("With --input-format stream-json, the messages come from stdin");
  using interruption = watchSignals(given.terminal);
  await using connection = new StreamConnection(given.terminal, interruption.signal);
  const initialize = await connection.initialize();
  if (interruption.exitCode !== undefined) return interruption.exitCode;
  try {
    const mode = startMode(given);
    const tools = chosenTools(toolChoice(given), builtInTools());
    const context = withProgram(given, { mode, tools, request: initialize?.request });
    const schema = await wantedSchema(context, initialize?.request);
    await using workspace = await openWorkspace(context);
    const conversation = await openConversation(context, workspace, initialize?.request?.title ?? undefined);
    const stream = new StreamConversation(context, { connection, conversation, mode, tools, schema });
    if (initialize !== undefined) await connection.answer(initialize.id, await stream.abilities());
    return await stream.play(interruption);
  } catch (error) {
    // The program waits for this answer; the text on stderr may not reach its user.
    if (initialize !== undefined)
      await connection.refuse(initialize.id, describeError(error).lines.join(". ").replace(/^✗ /, ""));
    throw error;
  }
}

function startMode(context: ExecContext): PermissionMode {
  const { permissionMode: name, permissionPromptTool, dangerouslySkipPermissions } = context.flags;
  if (permissionPromptTool !== undefined && permissionPromptTool !== "stdio") {
    throw usageError("--permission-prompt-tool: only stdio");
  }
  return permissionMode(name ?? (dangerouslySkipPermissions ? "bypassPermissions" : "default"), mayBypass(context));
}

function mayBypass({ flags }: ExecContext): boolean {
  return flags.allowDangerouslySkipPermissions || flags.dangerouslySkipPermissions;
}

function toolChoice({ flags }: ExecContext) {
  return {
    allowed: ruleList(flags.allowedTools),
    disallowed: ruleList(flags.disallowedTools),
    only: flags.tools === undefined ? undefined : ruleList([flags.tools]),
  };
}

interface Program {
  readonly mode: PermissionMode;
  readonly tools: ChosenTools;
  readonly request: Initialize | undefined;
}

/** The context with the policies and prompts that the program wants. */
function withProgram(context: ExecContext, { mode, tools, request }: Program): ExecContext {
  const { approvalPolicy, sandbox } = permissionModes[mode];
  const missing = unsupported(request, context);
  if (missing.length > 0) {
    throw usageError(`cody cannot use a program's own ${missing.join(", ")}`, ...missing.map((what) => instead[what]));
  }
  const { systemPrompt, appendSystemPrompt } = request ?? {};
  const prompt = systemPrompt?.join("\n\n").trim();
  const config = [
    ...(context.flags.config ?? []),
    ...(prompt ? [`systemPrompt=${JSON.stringify(prompt)}`] : []),
    ...(appendSystemPrompt ? [`instructions=${JSON.stringify(appendSystemPrompt)}`] : []),
    ...(context.flags.maxCost === undefined ? [] : [`turnLimits.cost=${context.flags.maxCost}`]),
  ];
  const deny = [...(context.flags.deny ?? []), ...tools.deny];
  return unattended({ ...context, flags: { approvalPolicy, sandbox, ...context.flags, config, deny } });
}

/** The options that the program passes and cody does not support: ignoring them silently could surprise its user. */
function unsupported(request: Initialize | undefined, { flags }: ExecContext): (keyof typeof instead)[] {
  const servers = isFilled(request?.sdkMcpServers) || isFilled(request?.mcpServers) || flags.mcpConfig !== undefined;
  return [
    ...(isFilled(request?.hooks) ? (["hooks"] as const) : []),
    ...(servers ? (["MCP servers"] as const) : []),
    ...(isFilled(request?.agents) ? (["agents"] as const) : []),
  ];
}

function isFilled(value: object | null | undefined): boolean {
  return Object.keys(value ?? {}).length > 0;
}

const instead = {
  hooks: "Hooks that are commands: docs/hooks.md. To decide about calls, use canUseTool",
  "MCP servers": "MCP servers of the user: cody mcp add",
  agents: "Start a conversation for each agent",
} as const;

async function wantedSchema(context: ExecContext, request: Initialize | undefined): Promise<SchemaInFile | undefined> {
  const text = context.flags.jsonSchema ?? (request?.jsonSchema ? JSON.stringify(request.jsonSchema) : undefined);
  return text === undefined ? await schemaOf(context) : await schemaIn(text, "--json-schema");
}

async function openConversation(
  context: ExecContext,
  workspace: Workspace,
  title: string | undefined,
): Promise<Conversation> {
  const { flags } = context;
  workspace.plan("other");
  const effort = flags.effort === undefined ? {} : { effort: flags.effort };
  const choice = await chooseByFlags(context, workspace);
  if (choice?.type === "resume") {
    if (flags.forkSession) return (await workspace.fork(choice)).conversation;
    return await workspace.resume(choice, { ...effort, allowEmpty: true });
  }
  const name = flags.name ?? title;
  const id = flags.sessionId === undefined ? {} : { id: shownId(flags.sessionId) };
  const named = name === undefined ? {} : { name: conversationName(name) };
  return (await workspace.create({ ...id, ...named, ...effort })).conversation;
}

interface StreamConversationParts {
  readonly connection: StreamConnection;
  readonly conversation: Conversation;
  readonly mode: PermissionMode;
  readonly tools: ChosenTools;
  readonly schema: SchemaInFile | undefined;
}

/** The conversation of one program. */
class StreamConversation {
  readonly #context: ExecContext;
  readonly #connection: StreamConnection;
  readonly #conversation: Conversation;
  readonly #tools: ChosenTools;
  readonly #schema: SchemaInFile | undefined;
  readonly #messages: StreamMessages;
  readonly #player: TurnPlayer;
  readonly #firstModel: string;
  #mode: PermissionMode;
  #answer: string | null = null;
  #isSaved = true;
  /** Interrupts the message that is being answered, or that waits and comes next. */
  #stop = new AbortController();
  #isPlaying = false;

  constructor(context: ExecContext, { connection, conversation, mode, tools, schema }: StreamConversationParts) {
    this.#context = context;
    this.#connection = connection;
    this.#conversation = conversation;
    this.#tools = tools;
    this.#schema = schema;
    this.#mode = mode;
    this.#firstModel = conversation.settings.model;
    this.#messages = new StreamMessages({
      conversationId: conversation.id,
      model: () => conversation.settings.model,
      cwd: conversation.settings.cwd,
      isPartial: context.flags.includePartialMessages,
      now: () => currentTime(context),
    });
    const showProblem = problemRenderer(context);
    this.#player = new TurnPlayer(conversation, async (event) => {
      if (event.msg.type === "task_complete") {
        this.#answer = event.msg.last_agent_message;
        this.#isSaved = event.msg.saved !== false || context.flags.noPersistence;
      }
      await connection.send(this.#messages.of(event));
      await showProblem(event);
    });
  }

  /** The answer to `initialize`. */
  async abilities(): Promise<object> {
    const { model } = this.#conversation.settings;
    return {
      commands: [],
      agents: [],
      output_style: "default",
      available_output_styles: ["default"],
      models: [{ value: model, displayName: model, description: "" }],
      account: {},
      pending_permission_requests: [],
    };
  }

  /** Answers each message until stdin ends; the exit code is that of the last turn. */
  async play(interruption: Interruption): Promise<number> {
    const approve = this.#approver();
    const serving = this.#connection.serve((request) => this.#serve(request));
    if (this.#conversation.openTurn !== undefined) await this.#connection.send([this.#init()]);
    await this.#player.open({ signal: interruption.signal, approve });
    let isError = false;
    for (;;) {
      const message = await this.#connection.nextMessage();
      if (message === undefined || interruption.signal.aborted) break;
      this.#isPlaying = true;
      this.#answer = null;
      this.#messages.beginTurn();
      await this.#connection.send([this.#init()]);
      const signal = AbortSignal.any([interruption.signal, this.#stop.signal]);
      const result = this.#result(await this.#player.play(this.#opOf(message), { signal, approve }));
      isError = result["is_error"] === true;
      this.#isPlaying = false;
      this.#stop = new AbortController();
      await this.#connection.send([result]);
    }
    if (interruption.exitCode !== undefined) return interruption.exitCode;
    await serving;
    if (isError) return exitCodes.failed;
    return this.#isSaved ? 0 : exitCodes.notSaved;
  }

  #init(): StreamMessage {
    const { model, cwd } = this.#conversation.settings;
    return this.#messages.system("init", {
      cwd,
      tools: builtInTools().map(({ name }) => toHookTool(name, {}, cwd).tool_name),
      mcp_servers: [],
      model,
      permissionMode: this.#mode,
      slash_commands: [],
      apiKeySource: "user",
      claude_code_version: `cody ${version}`,
      output_style: "default",
      agents: [],
      skills: [],
      plugins: [],
    });
  }

  #opOf({ message: { content } }: StreamUserMessage): Op {
    const blocks = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
    const items = blocks.map((block): UserInput => {
      if (block.type === "text") return block;
      const { source } = block;
      const url = source.type === "url" ? source.url : `data:${source.media_type};base64,${source.data}`;
      return { type: "image", image_url: url };
    });
    const format = this.#schema === undefined ? {} : { final_output_json_schema: this.#schema.schema };
    return { type: "user_input", items, ...format };
  }

  #result(outcome: TurnOutcome): StreamMessage {
    if (this.#schema === undefined) return this.#messages.result(outcome);
    return this.#messages.result(outcome, { problems: this.#schema.problemsOf(this.#answer) });
  }

  #approver(): Approver {
    return async (request, signal) => {
      const { tool, call_id: callId, reason } = request;
      if (this.#tools.isAllowed(request)) return "approved";
      const call = this.#askedCall(request);
      const asks = permissionModes[this.#mode].asks && this.#context.flags.permissionPromptTool !== undefined;
      if (!asks) {
        this.#messages.denied(callId, call);
        return refused(noApproverReason);
      }
      const question = { tool_name: call.name, input: call.input, tool_use_id: callId };
      const why = reason ? { decision_reason: reason } : {};
      const answer = await this.#connection.ask({ subtype: "can_use_tool", ...question, ...why }, signal);
      const decision =
        "reason" in answer ? refused(answer.reason) : decisionOf(answer.response, { tool, input: call.input });
      if (!isApproval(decision)) this.#messages.denied(callId, call);
      return decision;
    };
  }

  /** The call that a request is about, as the program knows it; with the arguments that a hook has set, if one has. */
  #askedCall({ tool, call_id: callId, command, arguments: changed }: ApprovalRequest) {
    if (changed !== undefined) {
      const { tool_name: name, tool_input: input } = toHookTool(tool, changed, this.#conversation.settings.cwd);
      return { name, input };
    }
    return this.#messages.callOf(callId) ?? { name: tool, input: { command: command.join(" ") } };
  }

  async #serve(request: Exclude<StreamRequest, Initialize>): Promise<object> {
    if (request.subtype === "interrupt") {
      if (this.#isPlaying || this.#connection.hasWaiting) this.#stop.abort();
      return { still_queued: [] };
    }
    if (request.subtype === "set_permission_mode") this.#mode = permissionMode(request.mode, mayBypass(this.#context));
    const change = request.subtype === "set_model" ? this.#modelChange(request.model) : policyChange(this.#mode);
    await this.#conversation.submit({ type: "override_turn_context", ...change });
    return {};
  }

  /** No name, or `default`, is the model of the beginning. */
  #modelChange(name: string | null | undefined): { readonly model: string } {
    return { model: name && name !== "default" ? name : this.#firstModel };
  }
}

function policyChange(mode: PermissionMode) {
  const { approvalPolicy, sandbox } = permissionModes[mode];
  return { approval_policy: approvalPolicy, sandbox_policy: sandboxPolicy(sandbox) };
}
