import * as z from "zod";

/** The moments at which hooks run, under the names of Claude Code. */
export const hookEvents = [
  "SessionStart",
  "UserPromptSubmit",
  "PreToolUse",
  "PermissionRequest",
  "Notification",
  "PostToolUse",
  "PreCompact",
  "Stop",
] as const;
export type HookEvent = (typeof hookEvents)[number];

/** Longer than any useful hook, so that a turn does not hang for ever. */
const maxSeconds = 3_600;

const HookCommand = z.strictObject({
  type: z.literal("command"),
  /** Run by `/bin/sh`, with the event as JSON on stdin. */
  command: z.string().regex(/^[^\0]{1,10000}$/, "expected a command of at most 10000 characters"),
  /** In seconds; 60 by default. */
  timeout: z.number().positive().max(maxSeconds).optional(),
});
export type HookCommand = z.infer<typeof HookCommand>;

/** Names separated by `|`, with `*` or `.*` for any characters: a full regular expression could run for ever. */
const Matcher = z
  .string()
  .max(1_000)
  .regex(/^[\w.*|-]*$/, "expected names separated by |, with * for any characters, such as Bash|mcp__files__*");

const HookGroup = z.strictObject({
  /** The tools it is for, or the kinds of another event; all if it is absent, empty or `*`. */
  matcher: Matcher.optional(),
  hooks: z.array(HookCommand).max(20),
});

const groups = z.array(HookGroup).max(50).optional();

/** Commands that run at certain moments, in the format of Claude Code's settings. */
export const HooksConfig = z.strictObject({
  SessionStart: groups,
  UserPromptSubmit: groups,
  PreToolUse: groups,
  PermissionRequest: groups,
  Notification: groups,
  PostToolUse: groups,
  PreCompact: groups,
  Stop: groups,
} satisfies Record<HookEvent, unknown>);
export type HooksConfig = z.infer<typeof HooksConfig>;

/** The part of the input that every event has. */
interface CommonInput {
  readonly session_id: string;
  /** The rollout; empty when the conversation is not saved. */
  readonly transcript_path: string;
  readonly cwd: string;
  /** The approval policy. */
  readonly permission_mode: string;
}

interface ToolInput extends CommonInput {
  /** Claude Code's name where there is one: `Bash`, `Read`, `Write`. */
  readonly tool_name: string;
  /** The name that the model uses. */
  readonly cody_tool_name: string;
  readonly tool_input: Readonly<Record<string, unknown>>;
  readonly tool_use_id: string;
}

/** The input of a hook: JSON on the stdin of a command, the first argument of a function. */
export type HookInput =
  | (CommonInput & { readonly hook_event_name: "SessionStart"; readonly source: "startup" | "resume" })
  | (CommonInput & { readonly hook_event_name: "UserPromptSubmit"; readonly prompt: string })
  | (ToolInput & { readonly hook_event_name: "PreToolUse" })
  | (ToolInput & { readonly hook_event_name: "PermissionRequest"; readonly reason: string })
  | (ToolInput & {
      readonly hook_event_name: "PostToolUse";
      readonly tool_response: { readonly success: boolean; readonly content: string };
    })
  | (CommonInput & {
      readonly hook_event_name: "Notification";
      readonly notification_type: "permission_prompt";
      readonly message: string;
      /** The id with which the request is answered. */
      readonly approval_id: string;
    })
  | (CommonInput & {
      readonly hook_event_name: "PreCompact";
      readonly trigger: "manual" | "auto";
      readonly custom_instructions: string;
    })
  | (CommonInput & {
      readonly hook_event_name: "Stop";
      /** Whether a hook has already made the model continue in this turn. */
      readonly stop_hook_active: boolean;
      readonly last_assistant_message: string;
    });

const text = z.string().optional();

/**
 * The output of a hook: JSON on the stdout of a command that exits with 0, or the result of a function. Unknown keys are
 * ignored, because hooks are written for other programs too.
 */
export const HookOutput = z.looseObject({
  /** `false` ends the turn. */
  continue: z.boolean().optional(),
  stopReason: text,
  /** Shown to the user. */
  systemMessage: text,
  decision: z.enum(["block", "approve"]).optional(),
  reason: text,
  hookSpecificOutput: z
    .looseObject({
      hookEventName: text,
      permissionDecision: z.enum(["allow", "deny", "ask"]).optional(),
      permissionDecisionReason: text,
      /** Replaces the arguments of the call as a whole. */
      updatedInput: z.record(z.string(), z.unknown()).optional(),
      /** For the model. */
      additionalContext: text,
      /** The answer to a `PermissionRequest`. */
      decision: z
        .looseObject({ behavior: z.enum(["allow", "deny"]), message: text, interrupt: z.boolean().optional() })
        .optional(),
    })
    .optional(),
});
export type HookOutput = z.infer<typeof HookOutput>;
