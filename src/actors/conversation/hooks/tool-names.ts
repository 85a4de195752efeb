import { resolve } from "node:path";
import { quotedCommand } from "../../../base/text/quoted-command.js";

type Args = Readonly<Record<string, unknown>>;

interface ClaudeTool {
  /** The names of Claude Code that a matcher may use. */
  readonly names: readonly string[];
  /** Whether hooks get the first name as `tool_name`, because the arguments have the same meaning. */
  readonly isSame?: true;
}

/** cody's tools under the names of Claude Code, so that existing hooks apply to them. */
const claudeTools: Readonly<Record<string, ClaudeTool>> = {
  shell: { names: ["Bash"], isSame: true },
  read_file: { names: ["Read"], isSame: true },
  write_file: { names: ["Write"], isSame: true },
  apply_patch: { names: ["Edit", "MultiEdit", "Write"] },
  list_files: { names: ["LS", "Glob"] },
  search_files: { names: ["Grep"] },
  update_plan: { names: ["TodoWrite"] },
};

/** The names by which a matcher may select a tool. */
export function matchedNames(tool: string): readonly string[] {
  return [tool, ...(claudeTools[tool]?.names ?? [])];
}

/** The tool as hooks see it. */
export function toHookTool(
  tool: string,
  args: Args,
  cwd: string,
): { readonly tool_name: string; readonly cody_tool_name: string; readonly tool_input: Args } {
  const { names: [name = tool] = [], isSame } = claudeTools[tool] ?? {};
  if (isSame !== true) return { tool_name: tool, cody_tool_name: tool, tool_input: args };
  const { path, ...others } = args;
  const input =
    typeof path === "string" ? { file_path: resolve(cwd, path), ...others } : { ...args, ...commandText(args) };
  return { tool_name: name, cody_tool_name: tool, tool_input: input };
}

/** Arguments that a hook has changed, as the tool expects them. */
export function fromHookInput(tool: string, input: Args): Args {
  if (tool !== "read_file" && tool !== "write_file") return input;
  const { file_path: path, ...others } = input;
  return path === undefined ? input : { path, ...others };
}

/** Claude Code knows only commands for a shell. */
function commandText({ command }: Args): Args {
  return Array.isArray(command) ? { command: quotedCommand(command.map(String)) } : {};
}
