import * as z from "zod";

/** When a person is asked before a tool runs. `on-failure` is an old name for `on-request`. */
export const ApprovalPolicy = z.enum(["untrusted", "on-request", "on-failure", "never"]);
export type ApprovalPolicy = z.infer<typeof ApprovalPolicy>;

/** The access of tools, as a word on the command line and in the configuration. */
export const SandboxMode = z.enum(["read-only", "workspace-write", "danger-full-access"]);
export type SandboxMode = z.infer<typeof SandboxMode>;

/** The sandbox policy as stored in a rollout. Codex up to 0.58 reads `mode`, later versions `type`; we write both. */
export const SandboxPolicy = z.union([
  z.object({ type: z.string(), mode: z.string().optional() }),
  z.object({ mode: z.string() }),
]);
export type SandboxPolicy = z.infer<typeof SandboxPolicy>;

export function sandboxPolicy(mode: SandboxMode): SandboxPolicy {
  const policy = { type: mode, mode };
  if (mode !== "workspace-write") return policy;
  return { ...policy, network_access: false, exclude_tmpdir_env_var: false, exclude_slash_tmp: false } as SandboxPolicy;
}
