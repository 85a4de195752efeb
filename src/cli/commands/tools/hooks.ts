import { quotedCommand } from "../../../base/text/quoted-command.js";
import { visible } from "../../../base/text/visible.js";
import type { LoadedConfig } from "../../../config/load-config.js";
import { readProjectCommands } from "../../../config/project/project-config.js";
import { hookEvents, type HookEvent, type HooksConfig } from "../../../messages/hooks.js";
import { usageError } from "../../command-error.js";
import { type CommandContext, type ContextOf, printResult } from "../../context.js";
import { loadSettings } from "../../load-settings.js";

/** Lists the configured hooks, and whether they would run. */
export async function hooksCommand(context: ContextOf<"hooks">): Promise<number> {
  const [action = "list"] = context.args;
  if (action !== "list") throw usageError(`Unknown action '${action}'`, "Usage: cody hooks [list]");
  const { hooks, problem, root } = await knownHooks(context, await loadSettings(context));
  if (problem !== undefined) await context.tell(`✗ ${visible(problem)}`);
  const rows = hooks.map(({ event, matcher = "*", command, status, source }) => {
    const shown = [event, visible(matcher), visible(command)].join("  ");
    return `${shown}  (${[status, visible(source)].join(", ")})`;
  });
  const isUnused = hooks.some(({ status }) => status !== "on");
  const hint = isUnused ? [`To trust this project: ${quotedCommand(["cody", "trust", root])}`] : [];
  const none = hooks.length === 0 ? ["No hooks. They are configured by the setting hooks."] : [];
  await printResult(context, { text: [...rows, ...none, ...hint].join("\n"), json: hooks });
  return 0;
}

/** A configured hook, and whether a conversation would run it. */
interface KnownHook {
  readonly event: HookEvent;
  readonly matcher?: string;
  readonly command: string;
  readonly timeout?: number;
  /** The file that configures it. */
  readonly source: string;
  readonly status: "on" | "not trusted" | "changed";
}

interface KnownHooks {
  readonly root: string;
  readonly hooks: readonly KnownHook[];
  /** The error in the project's configuration, if any. */
  readonly problem: string | undefined;
}

/** The hooks of the user, then those of the project. */
export async function knownHooks(
  context: CommandContext,
  { values, file }: Pick<LoadedConfig, "values" | "file">,
): Promise<KnownHooks> {
  const { realRoot } = await context.projectRoots();
  const project = await readProjectCommands(context.home, realRoot);
  const status = project.isAllowed ? "on" : project.isChanged ? "changed" : "not trusted";
  const hooks = [
    ...listed(values.hooks ?? {}, { source: file, status: "on" }),
    ...listed(project.hooks, { source: project.file ?? "", status }),
  ];
  return { root: project.root, hooks, problem: project.problem };
}

function listed(config: HooksConfig, place: Pick<KnownHook, "source" | "status">): KnownHook[] {
  return hookEvents.flatMap((event) =>
    (config[event] ?? []).flatMap(({ matcher, hooks }) =>
      hooks.map(({ command, timeout }) => ({
        event,
        ...(matcher === undefined ? {} : { matcher }),
        command,
        ...(timeout === undefined ? {} : { timeout }),
        ...place,
      })),
    ),
  );
}
