import { inputText } from "../../../messages/user-input.js";
import type { ApprovalRequest } from "../../../messages/tools/approval.js";
import type { ConversationContext } from "../conversation-context.js";
import type { ConversationHooks } from "../hooks/conversation-hooks.js";
import type { ActiveTurn } from "../state/live-state.js";
import type { Settings } from "../state/settings.js";
import { quotedCommand } from "../../../base/text/quoted-command.js";

/** How often hooks may make the model continue in one turn. */
const maxContinuations = 10;

/** Texts for the model from the hooks before a message, or the reason why it must not be sent. */
export type TurnStart = { readonly contexts: readonly string[] } | { readonly block: string };

/** Runs the hooks before the message of a turn is recorded. */
export async function startHooks(
  context: ConversationContext,
  hooks: ConversationHooks,
  turn: ActiveTurn,
  settings: Settings,
  signal: AbortSignal,
): Promise<TurnStart> {
  const common = commonParts(context, turn.submissionId, settings, signal);
  const contexts: string[] = [];
  const source = hooks.takeOpened();
  if (source !== undefined && hooks.has("SessionStart")) {
    const { contexts: texts } = await hooks.run({
      event: "SessionStart",
      names: [source],
      input: { source },
      ...common,
    });
    contexts.push(...texts);
  }
  const prompt = await promptHooks(context, turn, settings, signal);
  return "block" in prompt ? prompt : { contexts: [...contexts, ...prompt.contexts] };
}

/** Runs the hooks before a message of the user is recorded. */
export async function promptHooks(
  context: ConversationContext,
  { submissionId, input }: Pick<ActiveTurn, "submissionId" | "input">,
  settings: Settings,
  signal: AbortSignal,
): Promise<TurnStart> {
  const { hooks } = context;
  if (hooks?.has("UserPromptSubmit") !== true) return { contexts: [] };
  const common = commonParts(context, submissionId, settings, signal);
  const outcome = await hooks.run({ event: "UserPromptSubmit", input: { prompt: inputText(input) }, ...common });
  const block = outcome.block ?? outcome.stop;
  return block === undefined ? { contexts: outcome.contexts } : { block };
}

/** Runs the hooks at the end of a turn, and counts how often they make the model continue. */
export class StopHooks {
  readonly #context: ConversationContext;
  readonly #settings: Settings;
  readonly #submissionId: string;
  #continuations = 0;

  constructor(context: ConversationContext, settings: Settings, submissionId: string) {
    this.#context = context;
    this.#settings = settings;
    this.#submissionId = submissionId;
  }

  /** Returns what the model is told to continue with; undefined when the turn may end. */
  async reasonToContinue(lastAgentMessage: string | null, signal: AbortSignal): Promise<string | undefined> {
    const { hooks } = this.#context;
    if (hooks?.has("Stop") !== true || signal.aborted) return undefined;
    const common = commonParts(this.#context, this.#submissionId, this.#settings, signal);
    const input = { stop_hook_active: this.#continuations > 0, last_assistant_message: lastAgentMessage ?? "" };
    const { block, stop } = await hooks.run({ event: "Stop", input, ...common });
    if (block === undefined || stop !== undefined || signal.aborted) return undefined;
    if (this.#continuations < maxContinuations) {
      this.#continuations += 1;
      return block;
    }
    const message = `The turn ends although a Stop hook blocks that: it has done so ${maxContinuations} times in this turn`;
    common.warn(message);
    return undefined;
  }
}

/** Runs the hooks before a compaction; returns why it must not happen, if they say so. */
export async function compactionBlock(
  context: ConversationContext,
  request: {
    readonly trigger: string;
    readonly instructions?: string | undefined;
    readonly settings: Settings;
    readonly submissionId: string;
  },
  signal: AbortSignal,
): Promise<string | undefined> {
  const { hooks } = context;
  if (hooks?.has("PreCompact") !== true) return undefined;
  const trigger = request.trigger === "manual" ? "manual" : "auto";
  const input = { trigger, custom_instructions: request.instructions ?? "" } as const;
  const common = commonParts(context, request.submissionId, request.settings, signal);
  const { block, stop } = await hooks.run({ event: "PreCompact", names: [trigger], input, ...common });
  return block ?? stop;
}

/** Runs the hooks that tell a person about an approval request; nobody waits for them. */
export function notifyHooks(
  context: Pick<ConversationContext, "hooks" | "publish">,
  { approval_id, tool, command }: ApprovalRequest,
  {
    settings,
    submissionId,
    signal,
  }: { readonly settings: Settings; readonly submissionId: string; readonly signal: AbortSignal },
): void {
  const { hooks } = context;
  if (hooks?.has("Notification") !== true) return;
  const message = `cody needs your permission to use ${tool}: ${quotedCommand(command)}`;
  const input = { notification_type: "permission_prompt", message, approval_id } as const;
  const common = commonParts(context, submissionId, settings, signal);
  void hooks.run({ event: "Notification", names: [input.notification_type], input, ...common });
}

/** A message for the model that no person wrote, marked as in Codex. */
export function hookMessage(text: string) {
  const content = [{ type: "input_text" as const, text: `<hook_prompt>\n${text}\n</hook_prompt>` }];
  return { type: "message" as const, role: "user" as const, content };
}

function commonParts(
  { publish }: Pick<ConversationContext, "publish">,
  submissionId: string,
  settings: Settings,
  signal: AbortSignal,
) {
  return { settings, signal, warn: (message: string) => publish({ type: "warning", message }, submissionId) };
}
