import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import {
  defaultExportFormat,
  type ExportFormat,
  exportFormats,
  isExportFormat,
} from "../../../rollouts/formats/export/export-format.js";
import type { ExportedConversation } from "../../../rollouts/formats/export/export-lines.js";
import { existingTarget } from "../../conversations/choose-conversation.js";
import { CommandError, exitCodes, usageError } from "../../command-error.js";
import { type ContextOf, printResult } from "../../context.js";
import {
  exportToDirectory,
  type ExportedFile,
  lossText,
  nothingExportedText,
  exportReport,
  reportText,
  exportProject,
  projectText,
} from "./export-file.js";
import { FileExistsError, writeNewFile } from "./new-file.js";
import { watchSignals } from "../../terminal/interruption.js";
import { openWorkspace, type Workspace } from "../../workspace.js";

/** Exports a conversation, or all of a project. Read-only. */
export async function exportCommand(context: ContextOf<"export">): Promise<number> {
  const { flags, args } = context;
  const format = formatOf(flags.format);
  if (flags.all && (args.length > 0 || flags.output !== undefined)) {
    throw usageError("--all exports every conversation of the project and cannot be combined with an id or --output");
  }
  if (flags.json && flags.output === "-") {
    throw usageError(
      "--json reports the path of the file and cannot be combined with --output -",
      "To export JSON: --format json",
    );
  }
  using interruption = watchSignals(context.terminal);
  await using workspace = await openWorkspace(context);
  try {
    const exitCode = await run(context, workspace, { format, signal: interruption.signal });
    return interruption.exitCode ?? exitCode;
  } catch (error) {
    if (interruption.exitCode === undefined) throw error;
    await context.tell("Stopped");
    return interruption.exitCode;
  }
}

interface ExportRequest {
  readonly format: ExportFormat;
  readonly signal: AbortSignal;
}

async function run(context: ContextOf<"export">, workspace: Workspace, request: ExportRequest): Promise<number> {
  const { flags, args } = context;
  if (args.length === 0 && !workspace.config.persistence.enabled) {
    await context.tell(nothingExportedText);
    return exitCodes.failed;
  }
  if (flags.all) {
    const result = await exportProject(context, workspace, request);
    await printResult(context, { text: projectText(result), json: result });
    return result.failed.length + result.unreadable.length === 0 ? 0 : exitCodes.failed;
  }
  const target = await existingTarget(context, workspace, args[0]);
  context.about(target.id);
  if (flags.output === "-") return await print(context, await workspace.export(target, request.format), request.signal);
  const report =
    flags.output === undefined
      ? await exportToDirectory(context, workspace, target, request)
      : await exportToFile(context, await workspace.export(target, request.format), request.signal);
  await printResult(context, { text: reportText(report), json: report });
  await reportLosses(context, request.format, Object.entries(report.left));
  return 0;
}

/** Waits for slow readers of a pipe. */
async function print(
  context: ContextOf<"export">,
  exported: ExportedConversation,
  signal: AbortSignal,
): Promise<number> {
  const { stdout } = context.terminal;
  for await (const piece of exported) {
    signal.throwIfAborted();
    if (stdout.closed) break;
    await stdout.writeExact(piece);
  }
  await reportLosses(context, exported.format, exported.left);
  return 0;
}

async function exportToFile(
  context: ContextOf<"export">,
  exported: ExportedConversation,
  signal: AbortSignal,
): Promise<ExportedFile> {
  const path = resolve(context.terminal.cwd, context.flags.output ?? "");
  const isFolder = await stat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
  if (isFolder) {
    const hint = "To set the default directory for exports: cody config set export.directory PATH";
    throw new CommandError(`--output needs a file, but ${path} is a directory`, exitCodes.failed, [hint]);
  }
  try {
    return exportReport(
      exported,
      await writeNewFile(exported, (attempt) => (attempt === 1 ? path : undefined), signal),
    );
  } catch (error) {
    if (!(error instanceof FileExistsError)) throw error;
    throw new CommandError(`${path} already exists. Exports do not overwrite files`, exitCodes.failed);
  }
}

async function reportLosses(
  context: ContextOf<"export">,
  format: ExportFormat,
  left: Iterable<readonly [string, number]>,
): Promise<void> {
  const text = lossText(format, left);
  if (text !== undefined) await context.tell(text);
}

function formatOf(text: string = defaultExportFormat): ExportFormat {
  if (isExportFormat(text)) return text;
  throw usageError(`--format: unknown format '${text}'`, `Formats: ${exportFormats.join(", ")}`);
}
