import { ConversationManager } from "../../../src/manager.js";
import { mockKey } from "../wire-apis.js";
import { sequenceTools } from "./tools.js";

export interface SequenceHome {
  readonly home: string;
  readonly runtimeDirectory: string;
  /** The address of the strict server. */
  readonly url: string;
}

/** Small enough for a few turns to fill it. */
export const contextWindow = 20_000;

/** A manager with the same options in the test and in a process that will be killed. */
export function sequenceManager({ home, runtimeDirectory, url }: SequenceHome): ConversationManager {
  return new ConversationManager({
    home,
    cwd: home,
    env: {
      XDG_RUNTIME_DIR: runtimeDirectory,
      OPENAI_API_KEY: mockKey,
      ANTHROPIC_API_KEY: mockKey,
      OPENAI_BASE_URL: `${url}/v1`,
      ANTHROPIC_BASE_URL: url,
    },
    config: { contextWindow },
    tools: sequenceTools,
    retry: { maxRetries: 2, baseDelayMs: 1, maxDelayMs: 2 },
  });
}
