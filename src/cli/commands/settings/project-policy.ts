import { realpath } from "node:fs/promises";
import { Permissions } from "../../../actors/conversation/calls/permissions.js";
import { resolveHomes } from "../../../config/paths.js";
import { effectiveSetting } from "../../../config/settings/effective-settings.js";
import { type ActiveRules, judgeCall, type PolicyDecision } from "../../../tools/policy/approval-policy.js";
import { toolEnv } from "../../../tools/exec/tool-env.js";
import type { ContextOf } from "../../context.js";
import { loadSettings } from "../../load-settings.js";

interface ProjectPolicy {
  /** The real path of the project's root. */
  readonly root: string;
  readonly rules: ActiveRules;
  /** Decides about a line for `sh` in the current folder, as for a conversation with the current settings. */
  judge(line: string): Promise<PolicyDecision>;
}

/** The policy for the current project and settings. */
export async function projectPolicy(context: ContextOf<"permissions">): Promise<ProjectPolicy> {
  const { terminal, home, projectRoots } = context;
  const { realRoot: root } = await projectRoots();
  const { values } = await loadSettings(context);
  const homes = resolveHomes({ home, env: terminal.env, homedir: () => terminal.homedir });
  const permissions = new Permissions({ homes, userHome: terminal.homedir, rules: {}, conversationFolders: [] });
  const rules = await permissions.rulesOf(root);
  const workspace = await realpath(terminal.cwd);
  return {
    root,
    rules,
    judge: async (line) => {
      const temporary = await permissions.temporaryFolders();
      const sandbox = effectiveSetting(values, "sandbox.mode");
      const { Sandboxes } = await import("../../../sandbox/sandboxes.js");
      const sandboxes = new Sandboxes({ homes, config: values, env: terminal.env });
      const { status } = await sandboxes.describe({ cwd: workspace, sandbox });
      const closed = (): Promise<readonly string[]> => permissions.closedPaths();
      const command = {
        argv: ["sh", "-c", line],
        cwd: workspace,
        access: { type: "command", isEscalated: false },
      } as const;
      return await judgeCall(
        { tool: "shell", readOnly: false, command },
        {
          policy: effectiveSetting(values, "approvalPolicy"),
          sandbox,
          isConfined: status.works,
          rules,
          commands: {
            path: toolEnv(terminal.env, values.toolEnv ?? [])["PATH"] ?? "",
            unsafe: [workspace, root, ...temporary],
            workspace: [workspace, root],
          },
          reads: { workspace: [workspace, root], closed, isOpen: false },
          writes: { writable: [workspace], closed },
          isApproved: () => Promise.resolve(false),
        },
      );
    },
  };
}
