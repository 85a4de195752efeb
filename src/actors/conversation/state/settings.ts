import { resolve } from "node:path";
import type { LoginName } from "../../../config/providers/logins.js";
import type { WireApi } from "../../../messages/config.js";
import type { OutputSchema } from "../../../messages/output-schema.js";
import type { ApprovalPolicy, SandboxMode } from "../../../messages/tools/policy.js";
import { sandboxPolicy } from "../../../messages/tools/policy.js";
import type { Op } from "../../../messages/submission.js";
import type { TurnContext } from "../../../messages/turn-context.js";

/** The settings of a turn. */
export interface Settings {
  readonly provider: string;
  readonly model: string;
  /** The wire API of the provider; absent when the provider is in this process. */
  readonly api?: WireApi;
  /**
   * Whether the API was chosen for this conversation: then it is used again on resume, instead of the configured one.
   */
  readonly isApiChosen?: boolean;
  /** The provider's address; absent for the default one. Never taken from a rollout, because the key is sent to it. */
  readonly baseUrl?: string;
  /** The login used instead of a key, if any. */
  readonly login?: LoginName;
  readonly cwd: string;
  readonly approvalPolicy: ApprovalPolicy;
  readonly sandbox: SandboxMode;
  readonly effort: string | null;
  readonly summary: string;
}

export type SettingsOp =
  Extract<Op, { type: "override_turn_context" }> | Omit<Extract<Op, { type: "user_turn" }>, "items">;

export const onFailureNotice = "The approval policy on-failure is deprecated; on-request is used instead.";

export function currentPolicyName(policy: ApprovalPolicy): ApprovalPolicy {
  return policy === "on-failure" ? "on-request" : policy;
}

/** Returns the settings with a submission's changes. */
export function applySettingsOp(settings: Settings, op: SettingsOp): Settings {
  return {
    ...settings,
    cwd: op.cwd === undefined ? settings.cwd : resolve(settings.cwd, op.cwd),
    approvalPolicy: currentPolicyName(op.approval_policy ?? settings.approvalPolicy),
    sandbox: op.sandbox_policy === undefined ? settings.sandbox : sandboxMode(op.sandbox_policy),
    model: op.model ?? settings.model,
    effort: op.effort === undefined ? settings.effort : op.effort,
    summary: op.summary ?? settings.summary,
  };
}

/** Without a turn id, the context holds for future turns. */
export function toTurnContext(settings: Settings, turnId?: string, outputSchema?: OutputSchema): TurnContext {
  return {
    ...(turnId === undefined ? {} : { turn_id: turnId }),
    cwd: settings.cwd,
    approval_policy: settings.approvalPolicy,
    sandbox_policy: sandboxPolicy(settings.sandbox),
    model: settings.model,
    ...(settings.effort === null ? {} : { effort: settings.effort }),
    summary: settings.summary,
    ...(outputSchema === undefined ? {} : { final_output_json_schema: outputSchema }),
    provider: settings.provider,
    ...(settings.api === undefined ? {} : { api: settings.api }),
    ...(settings.isApiChosen === true ? { api_chosen: true } : {}),
  };
}

/** An unknown policy grants the fewest rights. */
function sandboxMode(policy: TurnContext["sandbox_policy"]): SandboxMode {
  const name = "type" in policy ? policy.type : policy.mode;
  return name === "workspace-write" || name === "danger-full-access" ? name : "read-only";
}
