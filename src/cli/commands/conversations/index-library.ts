import { lstatSync } from "node:fs";
import { homePaths } from "../../../config/paths.js";
import { removeIndexFile } from "../../../rollouts/search/index-file.js";
import { type IndexOutcome, withIndex } from "../../../rollouts/search/with-index.js";
import { byteText } from "../../format.js";
import { CommandError, exitCodes, usageError } from "../../command-error.js";
import { type CommandContext, printResult } from "../../context.js";
import { selectLibrary } from "./library.js";

const actions = new Set(["update", "rebuild", "status"]);

/** Updates or rebuilds the search index, or prints its status. */
export async function indexCommand(context: CommandContext): Promise<number> {
  const [action = "update"] = context.args;
  if (!actions.has(action)) throw usageError(`Unknown action '${action}'`, `Actions: ${[...actions].join(", ")}`);
  const path = homePaths(context.home).index;
  const library = await selectLibrary(context);
  const total = library.conversations.length;
  if ((action === "status" || total === 0) && lstatSync(path, { throwIfNoEntry: false }) === undefined) {
    const text =
      total === 0
        ? "Nothing to index: no saved conversations"
        : "No search index; searches read the files. To build it: cody index";
    await printResult(context, { text, json: { path, conversations: 0, messages: 0, stale: total } });
    return 0;
  }
  if (action === "rebuild") removeIndexFile(path);
  const outcome = await withIndex({ path }, (index) => {
    if (action !== "status") index.update(library);
    return { ...index.counts(), stale: index.stale(library).files.length };
  });
  const { conversations, messages, stale } = valueOf(outcome);
  const bytes = lstatSync(path).size;
  const staleness = stale === 0 ? "up to date" : `${stale} changed since`;
  const text = `${path}: ${conversations} conversation(s), ${messages} message(s), ${byteText(bytes)}; ${staleness}`;
  await printResult(context, { text, json: { path, conversations, messages, stale, bytes } });
  return 0;
}

function valueOf<T>(outcome: IndexOutcome<T>): T {
  if (outcome.status === "used") return outcome.value;
  const hints = {
    missing: ["Searches read the files instead. To use an index: npm install libsql"],
    newer: ["It was made by a newer version of cody. To rebuild it: cody index rebuild"],
    in_use: ["Try again in a moment; searches read the files meanwhile"],
    failed: ["Searches read the files instead"],
  } as const;
  throw new CommandError(`No search index: ${outcome.reason}`, exitCodes.failed, hints[outcome.status]);
}
