import type { HookCommand, HookEvent, HookInput, HooksConfig } from "../../../messages/hooks.js";
import { bounded, type HookFunction, type HookResult, runHookCommand, runHookFunction } from "./run-hook.js";

/** Functions of the caller by event, in the shape of Claude Code's SDK. */
export type HookFunctions = {
  readonly [E in HookEvent]?: readonly { readonly matcher?: string; readonly hooks: readonly HookFunction[] }[];
};

interface HooksParts {
  /** The user's own commands, then those of the project if it is trusted. */
  readonly commands: readonly HooksConfig[];
  readonly functions: HookFunctions;
  readonly env: Readonly<Record<string, string>>;
  readonly projectRoot: string;
  readonly sessionId: string;
  /** The rollout; null when the conversation is not saved. */
  readonly transcriptPath: string | null;
  /** How this process has opened the conversation; undefined when it only woke. */
  readonly opened: "startup" | "resume" | undefined;
}

/** An event without the fields that every event has. */
type EventInput<E extends HookEvent> = Omit<
  Extract<HookInput, { hook_event_name: E }>,
  "hook_event_name" | "session_id" | "transcript_path" | "cwd" | "permission_mode"
>;

interface HookRequest<E extends HookEvent> {
  readonly event: E;
  /** The names that a matcher may match; a matcher has no effect without them. */
  readonly names?: readonly string[];
  readonly input: EventInput<E>;
  readonly settings: { readonly cwd: string; readonly approvalPolicy: string };
  readonly signal: AbortSignal;
  /** Receives the warnings about failed hooks, and the messages of hooks to the user. */
  warn(message: string): void;
}

/** The common result of all hooks of an event. */
interface HookOutcome {
  /** The reason of the first hook that blocks. */
  readonly block?: string;
  /** The permission that hooks give a tool call that none of them blocks. */
  readonly permission?: { readonly decision: "allow" | "ask"; readonly reason: string };
  readonly updatedInput?: Readonly<Record<string, unknown>>;
  /** Texts for the model. */
  readonly contexts: readonly string[];
  /** The reason for ending the turn. */
  readonly stop?: string;
  /** The answer to an approval request. */
  readonly answer?: { readonly behavior: "allow" | "deny"; readonly message: string; readonly interrupt: boolean };
}

const plainTextIsContext: ReadonlySet<HookEvent> = new Set(["SessionStart", "UserPromptSubmit"]);

/** The hooks of one conversation. */
export class ConversationHooks {
  readonly #parts: HooksParts;
  readonly #env: Readonly<Record<string, string>>;
  readonly #closed = new AbortController();
  #opened: HooksParts["opened"];

  constructor(parts: HooksParts) {
    this.#parts = parts;
    this.#opened = parts.opened;
    // Hooks written for Claude Code find their scripts by its variable.
    this.#env = { ...parts.env, CODY_PROJECT_DIR: parts.projectRoot, CLAUDE_PROJECT_DIR: parts.projectRoot };
  }

  /** Whether anything runs at an event. */
  has(event: HookEvent): boolean {
    const { commands, functions } = this.#parts;
    return (functions[event]?.length ?? 0) > 0 || commands.some((config) => (config[event]?.length ?? 0) > 0);
  }

  /** Returns once how the conversation was opened, for the event of its first turn. */
  takeOpened(): "startup" | "resume" | undefined {
    const opened = this.#opened;
    this.#opened = undefined;
    return opened;
  }

  /** Runs the hooks of an event at the same time; never rejects. */
  async run<E extends HookEvent>(request: HookRequest<E>): Promise<HookOutcome> {
    const { event, settings } = request;
    const signal = AbortSignal.any([request.signal, this.#closed.signal]);
    const input = {
      session_id: this.#parts.sessionId,
      transcript_path: this.#parts.transcriptPath ?? "",
      cwd: settings.cwd,
      permission_mode: settings.approvalPolicy,
      hook_event_name: event,
      ...request.input,
    } as unknown as HookInput;
    const results = await Promise.all([
      ...this.#commands(event, request.names).map((hook) => runHookCommand(hook, { input, env: this.#env, signal })),
      ...this.#functions(event, request.names).map((hook) => runHookFunction(hook, { input, signal })),
    ]);
    for (const result of results) {
      if (result.type === "failed") request.warn(result.warning);
      if (result.type === "output" && result.output.systemMessage !== undefined)
        request.warn(bounded(result.output.systemMessage));
    }
    return merged(event, results);
  }

  /** Ends the hooks that still run. */
  close(): void {
    this.#closed.abort();
  }

  /** Equal commands run once, as when the user and a project have the same one. */
  #commands(event: HookEvent, names: readonly string[] | undefined): HookCommand[] {
    const matching = this.#parts.commands
      .flatMap((config) => config[event] ?? [])
      .filter(({ matcher }) => matches(matcher, names))
      .flatMap(({ hooks }) => hooks);
    return [...new Map(matching.map((hook) => [hook.command, hook])).values()];
  }

  #functions(event: HookEvent, names: readonly string[] | undefined): HookFunction[] {
    const groups = this.#parts.functions[event] ?? [];
    return groups.filter(({ matcher }) => matches(matcher, names)).flatMap(({ hooks }) => hooks);
  }
}

/** Matches names separated by `|`, with `*` or `.*` for any characters. */
function matches(matcher: string | undefined, names: readonly string[] | undefined): boolean {
  if (matcher === undefined || matcher === "" || names === undefined) return true;
  return matcher.split("|").some((pattern) => {
    const parts = pattern.split(/\.?\*/).map((part) => part.replaceAll(/[.-]/g, String.raw`\$&`));
    const expression = new RegExp(`^${parts.join(".*")}$`);
    return names.some((name) => expression.test(name));
  });
}

function merged(event: HookEvent, results: readonly HookResult[]): HookOutcome {
  const outcomes = results.map((result) => outcomeOf(event, result));
  const block = outcomes.find((outcome) => outcome.block !== undefined)?.block;
  const stop = outcomes.find((outcome) => outcome.stop !== undefined)?.stop;
  const permissions = outcomes.flatMap(({ permission }) => permission ?? []);
  const permission = permissions.find(({ decision }) => decision === "ask") ?? permissions[0];
  const updatedInput = outcomes.findLast((outcome) => outcome.updatedInput !== undefined)?.updatedInput;
  const answers = outcomes.flatMap(({ answer }) => answer ?? []);
  const answer = answers.find(({ behavior }) => behavior === "deny") ?? answers[0];
  return {
    ...(block === undefined ? {} : { block }),
    ...(stop === undefined ? {} : { stop }),
    ...(permission === undefined ? {} : { permission }),
    ...(updatedInput === undefined ? {} : { updatedInput }),
    ...(answer === undefined ? {} : { answer }),
    contexts: outcomes.flatMap(({ contexts }) => contexts),
  };
}

function outcomeOf(event: HookEvent, result: HookResult): HookOutcome {
  if (result.type === "blocked") return { block: result.reason, contexts: [] };
  if (result.type !== "output") return { contexts: [] };
  const { output, text = "" } = result;
  const written = output.hookSpecificOutput ?? {};
  // The output of one script for several events names the one it is about.
  const own = written.hookEventName === undefined || written.hookEventName === event ? written : {};
  const decision =
    own.permissionDecision ?? (event === "PreToolUse" && output.decision === "approve" ? "allow" : undefined);
  const reason = bounded(own.permissionDecisionReason ?? output.reason ?? "");
  const isBlocked = output.decision === "block" || decision === "deny";
  const contexts = [own.additionalContext ?? "", plainTextIsContext.has(event) ? text : ""];
  const { behavior, message = "", interrupt = false } = own.decision ?? {};
  return {
    ...(isBlocked ? { block: reason || "a hook blocked it without a reason" } : {}),
    ...(decision === "allow" || decision === "ask" ? { permission: { decision, reason } } : {}),
    ...(own.updatedInput === undefined ? {} : { updatedInput: own.updatedInput }),
    ...(output.continue === false ? { stop: bounded(output.stopReason ?? "") || "a hook ended the turn" } : {}),
    ...(behavior === undefined ? {} : { answer: { behavior, message: bounded(message), interrupt } }),
    contexts: contexts.map(bounded).filter((each) => each !== ""),
  };
}
