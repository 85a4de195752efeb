import { TrashBin } from "../../../actors/retention/trash-bin.js";
import { ConversationNotFoundError } from "../../../base/errors.js";
import { labelText } from "../../../rollouts/list/conversation-files.js";
import type { TrashedConversation } from "../../../rollouts/trash/describe-trashed.js";
import { byteText, localTime } from "../../format.js";
import { CommandError, exitCodes, usageError } from "../../command-error.js";
import { type ContextOf, printResult, currentTime } from "../../context.js";
import { loadPlaces } from "../../conversations/conversation-places.js";
import { FailureError } from "../../../messages/failure-error.js";

/** Restores a conversation from the trash; without an id lists the trash. */
export async function undeleteCommand(context: ContextOf<"undelete">): Promise<number> {
  const { args, flags, terminal } = context;
  const [text] = args;
  if (text !== undefined && flags.list) throw usageError("--list cannot be combined with an id");
  const places = await loadPlaces(context);
  await using bin = await TrashBin.open({ places, env: terminal.env, now: () => new Date(currentTime(context)) });
  if (text === undefined) {
    const entries = await bin.list();
    const json = entries.map(({ id, name, title, path, trashedAt, until, why, bytes }) => ({
      id,
      name,
      title,
      path,
      trashedAt,
      until,
      why,
      bytes,
    }));
    await printResult(context, { text: listText(entries), json });
    return 0;
  }
  const { id, path, why } = await bin.restore(text).catch((error: unknown) => {
    throw explained(error, text);
  });
  const hint = why === "retention" ? `\n  To exclude it from clean-up: cody pin ${id}` : "";
  await printResult(context, {
    text: `✓ Restored conversation: ${id}\n  File: ${path}${hint}`,
    json: { id, path },
  });
  return 0;
}

function listText(entries: readonly TrashedConversation[]): string {
  if (entries.length === 0) return "The trash is empty.";
  const rows = entries.map((entry) => {
    const { trashedAt, until, bytes } = entry;
    const [deleted, kept] = [trashedAt, until].map((time) => localTime(Date.parse(time)));
    const facts = [`Deleted: ${deleted}`, `Kept at least until: ${kept}`, `Size: ${byteText(bytes)}`];
    return [`  ${labelText(entry)}`, ...facts.map((fact) => `    ${fact}`), ""].join("\n");
  });
  return ["In the trash:", "", ...rows, "To restore one: cody undelete <id or name>"].join("\n");
}

function explained(error: unknown, text: string): unknown {
  if (error instanceof ConversationNotFoundError) {
    const hint = "List the trash: cody undelete";
    return new CommandError(`Conversation '${text}' is not in the trash`, exitCodes.failed, [hint]);
  }
  return error instanceof FailureError ? new CommandError(error.message, exitCodes.failed) : error;
}
