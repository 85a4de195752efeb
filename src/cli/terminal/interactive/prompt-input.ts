import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { shortened } from "../../../base/text/truncate.js";
import type { ReviewDecision } from "../../../messages/tools/approval.js";
import type { UserInput } from "../../../messages/user-input.js";
import { findById } from "../../../rollouts/list/find-conversation.js";
import { conversationExcerpt } from "../../../rollouts/list/conversation-excerpt.js";
import type { CommandContext } from "../../context.js";
import type { Workspace } from "../../workspace.js";

const maxInstructionChars = 10_000;
const maxExcerptChars = 2_000;
const maxReferences = 20;
const imageReference = /(?<![\w@])@(?:"([^"\n]+\.(?:png|jpe?g|gif|webp))"|(\S+\.(?:png|jpe?g|gif|webp)))(?!\S)/gi;
const conversationReference = /(?<![\w#])#(conv_[\w-]+)/g;

interface PreparedInput {
  readonly items: readonly UserInput[];
  readonly problems: readonly string[];
}

/** The items to send for a text: the text, the images it names with `@`, and excerpts of the conversations it names with `#`. */
export async function inputItems(
  text: string,
  { terminal }: CommandContext,
  { places }: Workspace,
): Promise<PreparedInput> {
  const items: UserInput[] = [{ type: "text", text }];
  const problems: string[] = [];
  for (const [, quoted, plain = ""] of [...text.matchAll(imageReference)].slice(0, maxReferences)) {
    const path = resolve(terminal.cwd, quoted ?? plain);
    const isFile = await stat(path).then(
      (stats) => stats.isFile(),
      () => false,
    );
    if (isFile) items.push({ type: "local_image", path });
    else problems.push(`There is no image ${path}: only its name is sent.`);
  }
  for (const [, id = ""] of [...text.matchAll(conversationReference)].slice(0, maxReferences)) {
    const found = await findById([places.directory, ...places.elsewhere], id).catch(() => undefined);
    if (found === undefined) problems.push(`There is no conversation ${id}: only its name is sent.`);
    else items.push({ type: "text", text: await excerptText(found) });
  }
  return { items, problems };
}

async function excerptText({ id, path }: { readonly id: string; readonly path: string }): Promise<string> {
  const { messages, firstMessage = "", lastAnswer = "" } = await conversationExcerpt(path, id);
  return [
    `Earlier conversation ${id} (${messages} messages, file ${path}).`,
    `It began with: ${shortened(firstMessage, maxExcerptChars)}`,
    `Its last answer: ${shortened(lastAnswer, maxExcerptChars)}`,
  ].join("\n");
}

/** The decision that tells the model what to do instead. */
export function instructionsInput(text: string): ReviewDecision {
  return text.trim() === "" ? "denied" : { denied: { rejection: text.slice(0, maxInstructionChars) } };
}
