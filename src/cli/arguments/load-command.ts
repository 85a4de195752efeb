import { listCommand } from "../commands/conversations/list.js";
import type { Command, CommandContext } from "../context.js";
import { type CommandFlags, type CommandName, commandRow } from "./command-table.js";
import { flagRow, type GivenFlags, globalFlags } from "./flag-table.js";

/** Commands with code of their own; `help` and `version` are other spellings of a flag. */
export type RunnableName = Exclude<CommandName, "help" | "version">;

type Loaders = { readonly [N in RunnableName]: () => Promise<Command<N>> };

/** Each command is imported only when it runs. */
const loaders: Loaders = {
  list: () => Promise.resolve(listCommand),
  new: async () => (await import("../commands/conversations/new.js")).newCommand,
  chat: async () => (await import("../commands/chat/chat.js")).chatCommand,
  exec: async () => (await import("../commands/chat/exec.js")).execCommand,
  run: async () => (await import("../commands/chat/run.js")).runCommand,
  resume: async () => (await import("../commands/conversations/resume.js")).resumeCommand,
  ps: async () => (await import("../commands/control/ps.js")).psCommand,
  attach: async () => (await import("../commands/control/attach.js")).attachCommand,
  tail: async () => (await import("../commands/control/tail.js")).tailCommand,
  send: async () => (await import("../commands/control/send.js")).sendCommand,
  stop: async () => (await import("../commands/control/stop.js")).stopCommand,
  daemon: async () => (await import("../commands/control/daemon.js")).daemonCommand,
  approvals: async () => (await import("../commands/control/approvals.js")).approvalsCommand,
  fork: async () => (await import("../commands/conversations/fork.js")).forkCommand,
  rename: async () => (await import("../commands/conversations/rename.js")).renameCommand,
  pin: async () => (await import("../commands/conversations/pin.js")).pinCommand,
  unpin: async () => (await import("../commands/conversations/pin.js")).unpinCommand,
  compact: async () => (await import("../commands/chat/compact.js")).compactCommand,
  context: async () => (await import("../commands/chat/context.js")).contextCommand,
  "set-provider": async () => (await import("../commands/settings/set-provider.js")).setProviderCommand,
  providers: async () => (await import("../commands/settings/providers.js")).providersCommand,
  "set-auth": async () => (await import("../commands/settings/set-auth.js")).setAuthCommand,
  login: async () => (await import("../commands/settings/login.js")).loginCommand,
  logout: async () => (await import("../commands/settings/logout.js")).logoutCommand,
  auth: async () => (await import("../commands/settings/auth.js")).authCommand,
  config: async () => (await import("../commands/settings/config.js")).configCommand,
  models: async () => (await import("../commands/settings/models.js")).modelsCommand,
  diff: async () => (await import("../commands/changes/diff.js")).diffCommand,
  undo: async () => (await import("../commands/changes/undo.js")).undoCommand,
  search: async () => (await import("../commands/conversations/search.js")).searchCommand,
  index: async () => (await import("../commands/conversations/index-library.js")).indexCommand,
  stats: async () => (await import("../commands/conversations/stats.js")).statsCommand,
  show: async () => (await import("../commands/transfer/show.js")).showCommand,
  export: async () => (await import("../commands/transfer/export.js")).exportCommand,
  import: async () => (await import("../commands/transfer/import.js")).importCommand,
  clean: async () => (await import("../commands/maintenance/clean.js")).cleanCommand,
  delete: async () => (await import("../commands/conversations/delete.js")).deleteCommand,
  undelete: async () => (await import("../commands/conversations/undelete.js")).undeleteCommand,
  check: async () => (await import("../commands/maintenance/check.js")).checkCommand,
  repair: async () => (await import("../commands/maintenance/repair.js")).repairCommand,
  knowledge: async () => (await import("../commands/tools/knowledge.js")).knowledgeCommand,
  relink: async () => (await import("../commands/conversations/relink.js")).relinkCommand,
  output: async () => (await import("../commands/chat/output.js")).outputCommand,
  scrub: async () => (await import("../commands/maintenance/scrub.js")).scrubCommand,
  doctor: async () => (await import("../commands/maintenance/doctor.js")).doctorCommand,
  mcp: async () => (await import("../commands/tools/mcp.js")).mcpCommand,
  hooks: async () => (await import("../commands/tools/hooks.js")).hooksCommand,
  sandbox: async () => (await import("../commands/tools/sandbox.js")).sandboxCommand,
  permissions: async () => (await import("../commands/settings/permissions.js")).permissionsCommand,
  trust: async () => (await import("../commands/settings/trust.js")).trustCommand,
  "mock-llm": async () => (await import("../commands/tools/mock-llm.js")).mockLlmCommand,
  demo: async () => (await import("../commands/chat/demo.js")).demoCommand,
  completion: async () => (await import("../commands/completion/completion.js")).completionCommand,
  /** The interactive prompt, for `cody` without a command. */
  "": async () => (await import("../commands/chat/interactive.js")).interactiveCommand,
};

/** Resolves with a function that runs the command with the flags it has declared, and no others. */
export async function loadCommand(
  name: RunnableName,
): Promise<(context: CommandContext<GivenFlags>) => Promise<number>> {
  const command = await loaded(name);
  return (context) => command({ ...context, flags: declaredFlags(name, context.flags) });
}

function loaded<N extends RunnableName>(name: N): Promise<Command<N>> {
  return loaders[name]();
}

function declaredFlags<N extends RunnableName>(name: N, parsedFlags: GivenFlags): CommandFlags<N> {
  const declared = [...commandRow(name).flags, ...globalFlags];
  const values = declared.map((flag) => [
    flag,
    parsedFlags[flag] ?? (flagRow(flag).kind === "switch" ? false : undefined),
  ]);
  // The row of the command decides both the type and these keys.
  return Object.fromEntries(values.filter(([, value]) => value !== undefined)) as CommandFlags<N>;
}
