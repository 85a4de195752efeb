import type { Conversation } from "../../../actors/conversation/handle.js";
import { ConversationNotFoundError } from "../../../base/errors.js";
import { quotedWord } from "../../../base/text/quoted-command.js";
import type { Event } from "../../../messages/event.js";
import type { Op } from "../../../messages/submission.js";
import { CommandError, exitCodes, usageError } from "../../command-error.js";
import { type ContextOf, nameFlag } from "../../context.js";
import { chooseByFlags, chooseActive, findTarget } from "../../conversations/choose-conversation.js";
import { reportSchemaMismatch, type SchemaInFile, schemaOf } from "../../headless/answer-schema.js";
import { terminalApprover } from "../../terminal/approval.js";
import { watchSignals } from "../../terminal/interruption.js";
import { readAll, withPipedInput } from "../../terminal/read-input.js";
import { rendererFor } from "../../terminal/render.js";
import { exitCodeOf, TurnPlayer } from "../../terminal/turn-player.js";
import { openWorkspace, type Workspace } from "../../workspace.js";

const idOrFile = /^conv_|^[0-9a-f-]{4,}$|\.jsonl$/i;

export async function chatCommand(context: ContextOf<"chat">): Promise<number> {
  using interruption = watchSignals(context.terminal);
  const name = nameFlag(context);
  const wanted = await schemaOf(context);
  await using workspace = await openWorkspace(context, { control: "cli" });
  const effective = await withMessageOfResume(context, workspace);
  const { text, isPiped } = await messageOf(effective, interruption.signal);
  if (interruption.exitCode !== undefined) return interruption.exitCode;
  if (text.trim() === "") throw usageError("Nothing to send: the message is empty", 'Usage: cody chat "your message"');
  const conversation = await openConversation(effective, workspace, name);
  const render = rendererFor(context, "stderr");
  let answer: string | null = null;
  const keepAnswer = async (event: Event): Promise<void> => {
    if (event.msg.type === "task_complete") answer = event.msg.last_agent_message;
    await render(event);
  };
  const player = new TurnPlayer(conversation, Object.assign(keepAnswer, { stop: async () => await render.stop?.() }));
  const options = { signal: interruption.signal, approve: terminalApprover(context, interruption) };
  const before = await player.open(options);
  const outcome = await player.play(inputOf(text, isPiped, wanted), options);
  const isAnswered = outcome === "answered" || outcome === "truncated" || outcome === "refused";
  const fits = !isAnswered || wanted === undefined || (await reportSchemaMismatch(context, answer, wanted));
  // A truncated answer does not match the schema either; the exit code reports the truncation.
  if (!fits && outcome !== "truncated") return interruption.exitCode ?? exitCodes.failed;
  return interruption.exitCode ?? exitCodeOf(before, outcome);
}

/**
 * Handles `--resume "some words"` without a message: several words that name no conversation are sent as a message to
 * the newest one. A single word may be a mistyped name, so it is an error that shows both commands.
 */
async function withMessageOfResume(context: ContextOf<"chat">, workspace: Workspace): Promise<ContextOf<"chat">> {
  const { args, flags } = context;
  const value = flags.resume;
  if (typeof value !== "string") return context;
  try {
    await findTarget(context, workspace.places, value);
    return context;
  } catch (error) {
    if (!(error instanceof ConversationNotFoundError) || idOrFile.test(value)) throw error;
    if (args.length > 0 || !/\S\s+\S/.test(value)) {
      const message = quotedWord([value, ...args].join(" "));
      throw new CommandError(`Conversation '${value}' not found`, exitCodes.failed, [
        "List available: cody list",
        `To send it as a message to the latest conversation: cody chat --continue ${message}`,
      ]);
    }
    await context.tell(
      "No conversation has the name given to --resume: sending it as a message to this project's latest conversation",
    );
    return { ...context, args: [value], flags: { ...flags, resume: true } };
  }
}

/** Without text in the arguments, stdin is the message; with text, piped stdin is appended to it. */
async function messageOf(context: ContextOf<"chat">, signal: AbortSignal): Promise<Message> {
  const { args, flags, terminal } = context;
  const prompt = args.join(" ");
  if (prompt.trim() !== "") {
    const text = await withPipedInput(context, prompt, signal);
    return { text, isPiped: text !== prompt };
  }
  const isRead = args.length === 0 && !flags.noStdin && terminal.stdin.isTTY !== true;
  return { text: isRead ? await readAll(terminal.stdin, signal) : "", isPiped: false };
}

interface Message {
  readonly text: string;
  /** True if another program's output follows the prompt. Such output may tell the model what to save. */
  readonly isPiped: boolean;
}

function inputOf(text: string, isPiped: boolean, wanted: SchemaInFile | undefined): Op {
  const schema = wanted === undefined ? {} : { final_output_json_schema: wanted.schema };
  const outside = isPiped ? { outside_content: true } : {};
  return { type: "user_input", items: [{ type: "text", text }], ...outside, ...schema };
}

async function openConversation(
  context: ContextOf<"chat">,
  workspace: Workspace,
  name: { readonly name?: string },
): Promise<Conversation> {
  const choice =
    name.name === undefined
      ? ((await chooseByFlags(context, workspace)) ?? (await chooseActive(context, workspace)))
      : ({ type: "new", why: "--name was given" } as const);
  const conversation =
    choice.type === "resume"
      ? await workspace.resume(choice, { allowEmpty: true })
      : (await workspace.create(name)).conversation;
  if (choice.type === "new") await context.tell(`${choice.why}: started ${conversation.id}`);
  if (conversation.notice !== undefined) await context.tell(conversation.notice);
  await workspace.makeActive(conversation);
  return conversation;
}
