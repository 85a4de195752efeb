import {
  defaultExportFormat,
  type ExportFormat,
  exportFormats,
  isExportFormat,
} from "../../../rollouts/formats/export/export-format.js";
import { findTarget } from "../../conversations/choose-conversation.js";
import type { CommandContext } from "../../context.js";
import { describeError } from "../../describe-error.js";
import { exportToDirectory, lossText, nothingExportedText, reportText } from "../../commands/transfer/export-file.js";
import { exportProject, projectText } from "../../commands/transfer/export-project.js";
import type { CurrentConversation } from "./current-conversation.js";
import type { Target } from "../../conversations/target.js";

/** Exports the named conversation, or the current one; returns the lines to print. */
export async function exportNamed(
  context: CommandContext,
  current: CurrentConversation,
  text: string,
  signal: AbortSignal,
): Promise<string[]> {
  const { named, format } = parseExportArguments(text);
  return await reportErrors(context, async () => {
    if (named === "" && current.workspace.config.persistence.enabled && current.begun === undefined) {
      return ["This conversation has no messages yet."];
    }
    if (named === "" && !current.workspace.config.persistence.enabled) return [nothingExportedText];
    const target = named === "" ? currentTarget(current) : await findTarget(context, current.workspace.places, named);
    const report = await exportToDirectory(context, current.workspace, target, { format, signal });
    const loss = lossText(format, Object.entries(report.left));
    return [reportText(report), ...(loss === undefined ? [] : [`  ${loss}`])];
  });
}

/** Exports all conversations of the project; returns the lines to print. */
export async function exportEach(
  context: CommandContext,
  { workspace }: CurrentConversation,
  text: string,
  signal: AbortSignal,
): Promise<string[]> {
  return await reportErrors(context, async () => {
    if (!workspace.config.persistence.enabled) return [nothingExportedText];
    const format = text === "" ? defaultExportFormat : text;
    if (!isExportFormat(format)) return [unknown(format)];
    return [projectText(await exportProject(context, workspace, { format, signal }))];
  });
}

/** Passes the path too, because the file may be in any folder. */
function currentTarget({ id, begun }: CurrentConversation): Target {
  const path = begun?.conversation.rolloutPath;
  return path === undefined || path === null ? { id } : { id, path };
}

/** A name may contain spaces: the last word is the format if it is one. */
function parseExportArguments(text: string): { named: string; format: ExportFormat } {
  const [, before = "", last = ""] = /^(.*?)\s*(\S*)$/.exec(text) ?? [];
  return isExportFormat(last) ? { named: before, format: last } : { named: text, format: defaultExportFormat };
}

function unknown(format: string): string {
  return `✗ Unknown format '${format}'. Formats: ${exportFormats.join(", ")}`;
}

/** A failed export must not end the interactive run. */
async function reportErrors(context: CommandContext, work: () => Promise<string[]>): Promise<string[]> {
  try {
    return await work();
  } catch (error) {
    const { lines, unexpected } = describeError(error);
    if (unexpected) throw error;
    context.log("error", lines.join(" "));
    return [...lines];
  }
}
