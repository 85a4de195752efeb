import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { RuleLists } from "../../../src/messages/tools/permissions.js";
import type { PolicyContext } from "../../../src/tools/policy/approval-policy.js";
import { compileRules } from "../../../src/tools/policy/rules.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

interface GivenContext extends Partial<Pick<PolicyContext, "policy" | "sandbox" | "isConfined">> {
  readonly user?: RuleLists;
  readonly project?: RuleLists;
  /** Programs in the folder that PATH names. */
  readonly programs?: readonly string[];
}

export interface World {
  readonly context: PolicyContext;
  readonly workspace: string;
  readonly outside: string;
  readonly bin: string;
}

/** A workspace, a folder outside of it, and a folder with programs, all empty; by default there is no sandbox. */
export async function policyWorld({
  user = {},
  project = {},
  programs = [],
  ...given
}: GivenContext = {}): Promise<World> {
  const [workspace, outside, bin] = await Promise.all([temporaryFolder(), temporaryFolder(), temporaryFolder()]);
  for (const name of ["sh", ...programs]) await addProgram(bin, name);
  const secrets = [join(outside, "secret")];
  const closed = (): Promise<readonly string[]> => Promise.resolve(secrets);
  const places = { root: workspace, userHome: outside };
  const context: PolicyContext = {
    policy: "on-request",
    sandbox: "workspace-write",
    isConfined: false,
    rules: {
      user: compileRules(user, { source: "permissions.json", ...places }),
      project: compileRules(project, { source: ".cody/permissions.json", ...places }),
    },
    commands: { path: bin, unsafe: [workspace], workspace: [workspace] },
    reads: { workspace: [workspace], closed, isOpen: false },
    writes: { writable: [workspace], closed },
    isApproved: async () => false,
    ...given,
  };
  return { context, workspace, outside, bin };
}

export async function addProgram(folder: string, name: string, target?: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  if (target !== undefined) return await symlink(target, join(folder, name));
  await writeFile(join(folder, name), "#!/bin/sh\n");
  await chmod(join(folder, name), 0o755);
}
