import type { ExportFormat } from "../../rollouts/export/export-format.js";
import type { CommandContext } from "../context.js";
import { describeError } from "../describe-error.js";
import { projectConversations } from "../project-conversations.js";
import type { Workspace } from "../workspace.js";
import { type ExportedFile, exportToDirectory } from "./export-file.js";

export interface ProjectExport {
  readonly exported: readonly ExportedFile[];
  readonly failed: readonly { readonly id: string; readonly reason: string }[];
}

/** Every conversation of the project in which something was said. One that cannot be read does not stop the others. */
export async function exportProject(
  context: CommandContext,
  workspace: Workspace,
  options: { readonly format: ExportFormat; readonly signal: AbortSignal },
): Promise<ProjectExport> {
  const all = await projectConversations(context, workspace.places, workspace.key.projectRoot);
  const exported: ExportedFile[] = [];
  const failed: ProjectExport["failed"][number][] = [];
  for (const { id, empty } of all) {
    if (empty) continue;
    try {
      exported.push(await exportToDirectory(context, workspace, { id }, options));
    } catch (error) {
      options.signal.throwIfAborted();
      const { lines, unexpected } = describeError(error);
      if (unexpected) throw error;
      failed.push({ id, reason: lines.join(" ") });
    }
  }
  return { exported, failed };
}

/** For a person. */
export function projectText({ exported, failed }: ProjectExport): string {
  if (exported.length + failed.length === 0) return "No conversation of this project has anything to export.";
  const files = exported.map(({ path }) => `  ${path}`);
  const reasons = failed.map(({ reason }) => `  ${reason}`);
  return [
    `✓ Exported ${exported.length} conversation(s)`,
    ...files,
    ...(failed.length === 0 ? [] : [`✗ Not exported: ${failed.length}`, ...reasons]),
  ].join("\n");
}
