import { onTestFinished, vi } from "vitest";
import type { ConversationManager } from "../../src/manager.js";
import type { Target } from "../../src/cli/workspace.js";
import { type CliResult, runInProcess } from "./cli.js";
import { createMockClient } from "./mock-client.js";
import type { MockRecorder } from "./mock-recorder.js";

/** A folder that does not exist, so nothing is read from it. */
export const nowhere = "/nowhere/at/all";

/** Home directories that do not exist. */
export const nowhereEnv = { HOME: nowhere, CODY_HOME: `${nowhere}/.cody`, CODEX_HOME: `${nowhere}/.codex` };

export interface MockedCommands {
  readonly manager: ConversationManager;
  readonly recorder: MockRecorder;
  /** The ids of the conversations that commands activated, in order. */
  readonly activated: readonly string[];
  readonly run: (...args: string[]) => Promise<CliResult>;
}

/**
 * The command line on a mock of the library: `list` and `resume` use a manager whose recorder keeps conversations in
 * memory. Modules are loaded again, because other test files may have loaded them without mocks.
 */
export async function openMockedCommands(): Promise<MockedCommands> {
  const activated: string[] = [];
  vi.resetModules();
  onTestFinished(forgetMocks);
  const { createMockRecorder } = await import("./mock-recorder.js");
  const { ConversationManager } = await import("../../src/manager.js");
  const recorder = createMockRecorder();
  const manager = new ConversationManager({
    client: createMockClient(["First answer"]),
    recorder,
    cwd: nowhere,
    env: nowhereEnv,
  });
  const mocks: Mocks = {
    [mocked.workspace]: () => ({
      openWorkspace: async () => ({
        config: { persistence: { enabled: true } },
        resume: ({ id }: Target) => manager.resumeConversation(id),
        makeActive: async ({ id }: Target) => activated.push(id) > 0,
        [Symbol.asyncDispose]: () => manager.shutdown(),
      }),
    }),
    [mocked.saved]: () => ({
      savedPage: async () => {
        const conversations = await manager.listConversations();
        return { conversations, total: conversations.length };
      },
    }),
    [mocked.places]: () => ({ loadPlaces: async () => ({}) }),
    [mocked.choice]: () => ({ findTarget: async (_context: unknown, _places: unknown, id: string) => ({ id }) }),
    [mocked.outbox]: () => ({ openOutbox: () => ({ start: () => undefined, stop: async () => undefined }) }),
    [mocked.retention]: () => ({ automaticRetention: async () => undefined }),
  };
  for (const [path, exports] of Object.entries(mocks)) vi.doMock(path, exports);
  const { runCommandLine } = await import("../../src/cli/run-command-line.js");
  const run = (...args: string[]) => runInProcess(args, { cwd: nowhere, env: nowhereEnv }, runCommandLine);
  return { manager, recorder, activated, run };
}

const mocked = {
  workspace: "../../src/cli/workspace.js",
  saved: "../../src/cli/conversations/project-conversations.js",
  places: "../../src/cli/conversations/conversation-places.js",
  choice: "../../src/cli/conversations/choose-conversation.js",
  outbox: "../../src/actors/rollout-writer/outbox.js",
  retention: "../../src/cli/commands/maintenance/automatic-retention.js",
} as const;

type Mocks = Record<(typeof mocked)[keyof typeof mocked], () => object>;

function forgetMocks(): void {
  for (const path of Object.values(mocked)) vi.doUnmock(path);
  vi.resetModules();
}
