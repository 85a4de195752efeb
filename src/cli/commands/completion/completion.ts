import { usageError } from "../../command-error.js";
import { type ContextOf, printResult } from "../../context.js";
import { loadPlaces } from "../../conversations/conversation-places.js";
import { maxWords, wordLines } from "../../conversations/conversation-words.js";
import { savedPage } from "../../conversations/project-conversations.js";

/** The scripts load the schemas for the values of flags, which the names and ids do not need. */
export async function completionCommand(context: ContextOf<"completion">): Promise<number> {
  if (context.flags.conversations) return await printWords(context);
  const { completionKinds, isCompletionKind } = await import("./grammar.js");
  const [kind = ""] = context.args;
  if (!isCompletionKind(kind)) {
    const kinds = completionKinds.join(", ");
    const problem =
      kind === "" ? `Missing argument: shell, one of ${kinds}` : `Expected one of ${kinds}, not '${kind}'`;
    throw usageError(problem, "See: cody help completion");
  }
  const script = await scripts[kind]();
  await printResult(context, { text: script.trimEnd(), json: { kind, text: script } });
  return 0;
}

const scripts = {
  bash: async () => (await import("./bash.js")).bashScript(),
  zsh: async () => (await import("./zsh.js")).zshScript(),
  fish: async () => (await import("./fish.js")).fishScript(),
  man: async () => (await import("./man-page.js")).manPage(),
};

/** Prints nothing if the conversations cannot be read: an error would end up in the line that is being typed. */
async function printWords(context: ContextOf<"completion">): Promise<number> {
  try {
    const { conversations } = savedPage(context, await loadPlaces(context), { limit: maxWords });
    await context.terminal.stdout.write(wordLines(conversations));
  } catch (error) {
    context.log("debug", `no conversations to complete: ${String(error)}`);
  }
  return 0;
}
