import { resolve } from "node:path";
import { isDirectory } from "../../../base/fs/path-checks.js";
import { readProjectCommands } from "../../../config/project/project-config.js";
import { realProjectRoot } from "../../../config/project/project.js";
import { readTrust, setTrust } from "../../../config/project/trust.js";
import { visible } from "../../../base/text/visible.js";
import { CommandError, exitCodes, usageError } from "../../command-error.js";
import { type ContextOf, printResult } from "../../context.js";
import { commandRows } from "../../conversations/project-commands.js";

/** Marks a project as trusted, so that its own configuration applies, or removes the mark. */
export async function trustCommand(context: ContextOf<"trust">): Promise<number> {
  const { flags, args, home, terminal } = context;
  if (flags.list) return await showTrust(context);
  const [path = "."] = args;
  const folder = resolve(terminal.cwd, path);
  if (!(await isDirectory(folder))) throw new CommandError(`${visible(folder)} is not a folder`, exitCodes.failed);
  const root = await realProjectRoot(folder);
  // Everything below it would belong to the same project.
  if (root === "/") throw usageError("The root of the file system cannot be a project");
  if (flags.undo) await setTrust(home, root, undefined);
  const commands = flags.undo ? [] : await trustCommands(context, root);
  await printResult(context, {
    text: flags.undo
      ? `✓ No longer trusted: ${visible(root)}`
      : [`✓ Trusted: ${visible(root)}`, ...commands].join("\n"),
    json: { root, trust: flags.undo ? null : "trusted" },
  });
  return 0;
}

/** Trusts a project with its present commands, and returns a line for each. */
async function trustCommands({ home }: ContextOf<"trust">, root: string): Promise<string[]> {
  const { digest = "", ...commands } = await readProjectCommands(home, root);
  await setTrust(home, root, "trusted", digest);
  return commandRows(commands);
}

async function showTrust(context: ContextOf<"trust">): Promise<number> {
  const decisions = [...(await readTrust(context.home))];
  const rows = decisions.map(([root, level]) => `${visible(root)}  (${level})`);
  await printResult(context, {
    text: rows.length === 0 ? "No trusted or untrusted projects." : rows.join("\n"),
    json: Object.fromEntries(decisions),
  });
  return 0;
}
