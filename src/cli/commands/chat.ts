import { resolve } from "node:path";
import type { Conversation } from "../../actors/conversation/handle.js";
import type { Op } from "../../messages/submission.js";
import { askAtTerminal } from "../approval/ask-at-terminal.js";
import { chosenByFlags, chosenByPointer } from "../choose-conversation.js";
import { usageError } from "../command-error.js";
import type { CommandContext } from "../context.js";
import { exitCodeOf } from "../exit-code.js";
import { watchSignals } from "../interruption.js";
import { nameOf } from "../name-flag.js";
import { outputSchemaIn } from "../output-schema-file.js";
import { readAll } from "../read-input.js";
import { rendererFor } from "../render.js";
import { TurnPlayer } from "../turn-player.js";
import { openWorkspace, type Workspace } from "../workspace.js";

export async function chatCommand(context: CommandContext): Promise<number> {
  using interruption = watchSignals(context.terminal);
  const text = await textOf(context, interruption.signal);
  if (interruption.exitCode !== undefined) return interruption.exitCode;
  if (text.trim() === "")
    throw usageError("There is nothing to say: the text is empty", 'Usage: cody chat "your message"');
  const name = nameOf(context);
  const input = await inputOf(context, text);
  await using workspace = await openWorkspace(context);
  const conversation = await openConversation(context, workspace, name);
  const player = new TurnPlayer(conversation, rendererFor(context, "stderr"));
  const options = { signal: interruption.signal, approve: askAtTerminal(context, interruption) };
  const before = await player.open(options);
  const outcome = await player.play(input, options);
  return interruption.exitCode ?? exitCodeOf(before, outcome);
}

async function textOf({ args, terminal }: CommandContext, signal: AbortSignal): Promise<string> {
  if (args.length > 0) return args.join(" ");
  return terminal.stdin.isTTY === true ? "" : await readAll(terminal.stdin, signal);
}

/** The schema is looked at before anything else is done: a turn that cannot be asked for must not begin. */
async function inputOf({ flags, terminal }: CommandContext, text: string): Promise<Op> {
  const items = [{ type: "text" as const, text }];
  if (flags.outputSchema === undefined) return { type: "user_input", items };
  const schema = await outputSchemaIn(resolve(terminal.cwd, flags.outputSchema));
  return { type: "user_input", items, final_output_json_schema: schema };
}

async function openConversation(
  context: CommandContext,
  workspace: Workspace,
  name: { readonly name?: string },
): Promise<Conversation> {
  const choice =
    name.name === undefined
      ? ((await chosenByFlags(context, workspace)) ?? (await chosenByPointer(context, workspace)))
      : ({ type: "new", why: "A name was given" } as const);
  const conversation =
    choice.type === "resume"
      ? await workspace.resume(choice, { allowEmpty: true })
      : (await workspace.create(name)).conversation;
  if (choice.type === "new") await context.tell(`${choice.why}: started ${conversation.id}`);
  if (conversation.notice !== undefined) await context.tell(conversation.notice);
  await workspace.makeActive(conversation);
  return conversation;
}
