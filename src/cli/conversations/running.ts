import { bareId, shownId } from "../../base/text/conversation-id.js";
import { ConnectionLostError, ControlClient } from "../../control/control-client.js";
import { findControlSockets } from "../../control/control-sockets.js";
import type { RunningConversation } from "../../messages/control.js";
import { CommandError, exitCodes, usageError } from "../command-error.js";
import type { CommandContext } from "../context.js";

/** A process with conversations, and those it had open when it was asked. */
export interface RunningProcess {
  readonly client: ControlClient;
  readonly conversations: readonly RunningConversation[];
}

export interface Found {
  readonly client: ControlClient;
  readonly conversation: RunningConversation;
}

/** The processes of this user that others can talk to: with cody's home, or with any. The opener must dispose it. */
export class RunningProcesses implements Disposable {
  readonly processes: readonly RunningProcess[];
  /** Why some processes could not be asked. */
  readonly problems: readonly string[];

  private constructor(processes: readonly RunningProcess[], problems: readonly string[]) {
    this.processes = processes;
    this.problems = problems;
  }

  static async connect(
    { terminal, home }: Pick<CommandContext, "terminal" | "home">,
    { allHomes = false }: { readonly allHomes?: boolean } = {},
  ): Promise<RunningProcesses> {
    const paths = await findControlSockets(terminal.env);
    const problems: string[] = [];
    const found = await Promise.all(
      paths.map(async (path) => {
        try {
          const client = await ControlClient.connect(path);
          if (!allHomes && client.welcome.home !== home) {
            client.close();
            return undefined;
          }
          return { client, conversations: await client.list() };
        } catch (error) {
          // A process that has ended meanwhile has no conversations any more.
          if (!(error instanceof ConnectionLostError)) problems.push(`${path}: ${(error as Error).message}`);
          return undefined;
        }
      }),
    );
    const processes = found.filter((process) => process !== undefined);
    return new RunningProcesses(
      processes.toSorted((a, b) => a.client.welcome.started_at - b.client.welcome.started_at),
      problems,
    );
  }

  /** Finds an open conversation by its id, the beginning of it, or its name. */
  find(text: string): Found | undefined {
    const all = this.processes.flatMap(({ client, conversations }) =>
      conversations.map((conversation) => ({ client, conversation })),
    );
    const exact = all.find(({ conversation }) => conversation.conversation_id === shownId(text));
    if (exact !== undefined) return exact;
    const byId = all.filter(({ conversation: { conversation_id: id } }) => isBeginning(text, id));
    const matches = byId.length > 0 ? byId : all.filter(({ conversation }) => conversation.name === text);
    if (matches.length > 1) {
      const ids = matches.map(({ conversation }) => conversation.conversation_id).join(", ");
      throw usageError(`${text} matches ${matches.length} open conversations: ${ids}`, "Use one of these ids");
    }
    return matches[0];
  }

  /** Like `find`, but an error for the user if it is not open. */
  require(text: string): Found {
    const found = this.find(text);
    if (found !== undefined) return found;
    throw new CommandError(`Conversation '${text}' is not open in any process`, exitCodes.failed, [
      "List the open ones: cody ps",
      ...this.problems.map((problem) => `Not asked: ${problem}`),
    ]);
  }

  /** The daemon, if it runs. */
  get daemon(): RunningProcess | undefined {
    return this.processes.find(({ client }) => client.welcome.kind === "daemon");
  }

  [Symbol.dispose](): void {
    for (const { client } of this.processes) client.close();
  }
}

function isBeginning(text: string, id: string): boolean {
  return text !== "" && (id.startsWith(text) || bareId(id).startsWith(text));
}
