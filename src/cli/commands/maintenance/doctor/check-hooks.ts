import { access, constants } from "node:fs/promises";
import { join, resolve } from "node:path";
import { InvalidInputError } from "../../../../base/errors.js";
import { loadConfig } from "../../../../config/load-config.js";
import { toolEnv } from "../../../../tools/exec/tool-env.js";
import type { CommandContext } from "../../../context.js";
import { knownHooks } from "../../tools/hooks.js";
import type { StoreFinding } from "./report.js";

/** The shell runs these itself. */
const builtIns: ReadonlySet<string> = new Set(
  "! . : [ break case cd command echo eval exec exit export false for if printf read return set shift test trap true type umask unset until while {".split(
    " ",
  ),
);

/** Finds hooks whose program does not exist or cannot be run. Commands that are more than a program are not judged. */
export async function checkHooks(context: CommandContext): Promise<StoreFinding[]> {
  const { home, terminal } = context;
  // A configuration that cannot be read, and its warnings, are reported where it is checked.
  const config = await loadConfig({ home, env: terminal.env, flags: {} }).catch((error: unknown) => {
    if (error instanceof InvalidInputError) return undefined;
    throw error;
  });
  if (config === undefined) return [];
  const { hooks, root } = await knownHooks(context, config);
  const { PATH: path = "" } = toolEnv(terminal.env);
  const findings = await Promise.all(
    hooks.map(async ({ event, command, source, status }): Promise<StoreFinding[]> => {
      const program = status === "on" ? programOf(command, root) : undefined;
      if (program === undefined || (await isProgram(program, root, path))) return [];
      const file = source.startsWith("/") ? source : join(home, source);
      return [{ kind: "broken_hook", path: file, event, program }];
    }),
  );
  return findings.flat();
}

/** The first word of a command; undefined if only a shell can tell. */
function programOf(command: string, root: string): string | undefined {
  const expanded = command
    .trim()
    .replaceAll(/\$(?:\{(?:CLAUDE|CODY)_PROJECT_DIR\}|(?:CLAUDE|CODY)_PROJECT_DIR\b)/g, root);
  const [, quoted, plain] = /^(?:"([^"$`\\]+)"|([^\s"'`$;&|<>()=*?~#\\]+))(?=\s|$)/.exec(expanded) ?? [];
  const word = quoted ?? plain;
  return word === undefined || builtIns.has(word) ? undefined : word;
}

async function isProgram(program: string, root: string, path: string): Promise<boolean> {
  const places = program.includes("/")
    ? [resolve(root, program)]
    : path.split(":").map((folder) => join(folder, program));
  const found = await Promise.all(
    places.map((place) =>
      access(place, constants.X_OK).then(
        () => true,
        () => false,
      ),
    ),
  );
  return found.includes(true);
}
