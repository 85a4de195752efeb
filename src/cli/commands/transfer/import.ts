import { resolve } from "node:path";
import type { ImportOptions, ImportOutcome } from "../../../actors/conversation/saved/import-options.js";
import { importFormats, isImportFormat } from "../../../rollouts/formats/import/import-format.js";
import { exitCodes, usageError } from "../../command-error.js";
import { type ContextOf, printLine } from "../../context.js";
import { outcomeText, totalText } from "./outcome-text.js";
import { readOnlyContext, openWorkspace } from "../../workspace.js";

/** Imports a conversation of another program, or all in a folder, and reports what could not be converted. */
export async function importCommand(given: ContextOf<"import">): Promise<number> {
  const { flags, args } = given;
  const options = optionsOf(given);
  const [named = ""] = args;
  // An empty path would resolve to the current directory.
  if (named === "") throw usageError("The path is empty: give a file or a folder");
  const context = flags.dryRun ? readOnlyContext(given) : given;
  await using workspace = await openWorkspace(context);
  const outcomes: ImportOutcome[] = [];
  for await (const outcome of workspace.imports(resolve(context.terminal.cwd, named), options)) {
    outcomes.push(outcome);
    // Printed one by one: a folder may contain thousands.
    if (!flags.json) await printLine(context, outcomeText(outcome).join("\n"));
  }
  if (flags.json) await printLine(context, JSON.stringify({ files: outcomes }));
  else if (outcomes.length > 1) await printLine(context, totalText(outcomes));
  if (outcomes.some(({ status }) => status === "failed")) return exitCodes.failed;
  return outcomes.some(({ status }) => status !== "skipped") ? 0 : exitCodes.failed;
}

function optionsOf({ flags }: ContextOf<"import">): ImportOptions {
  const { from, force, dryRun } = flags;
  if (from === undefined) return { force, dryRun };
  if (!isImportFormat(from)) throw usageError(`--from: expected one of ${importFormats.join(", ")}`);
  return { from, force, dryRun };
}
