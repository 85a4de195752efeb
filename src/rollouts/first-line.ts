import { bareId } from "../base/text/conversation-id.js";
import type { GitInfo, ImportOrigin, OwnLine } from "../messages/rollout-line.js";
import { version } from "../version.js";
import type { StartSource } from "../messages/turn-context.js";

export interface SessionMetaInput {
  readonly conversationId: string;
  readonly now: Date;
  readonly cwd: string;
  readonly provider: string;
  readonly model: string;
  readonly source: StartSource;
  /** The conversation from which this one was copied because it could not be resumed in its own file. */
  readonly resumes?: string | undefined;
  readonly git?: GitInfo | undefined;
  readonly forkedFrom?: string | undefined;
  readonly imported?: ImportOrigin | undefined;
}

/**
 * Builds the first line of a rollout. `model_provider` is left out, because Codex refuses to resume a conversation
 * whose provider is missing from its own configuration.
 */
export function sessionMetaLine(input: SessionMetaInput): OwnLine {
  const timestamp = input.now.toISOString();
  return {
    timestamp,
    type: "session_meta",
    metadata: {
      provider: input.provider,
      model: input.model,
      format: 1,
      ...(input.imported === undefined ? {} : { imported: input.imported }),
    },
    payload: {
      id: bareId(input.conversationId),
      ...(input.forkedFrom === undefined ? {} : { forked_from_id: bareId(input.forkedFrom) }),
      timestamp,
      cwd: input.cwd,
      originator: "cody",
      cli_version: version,
      source: codexSources[input.source],
      session_source: input.resumes === undefined ? input.source : { resume: input.resumes },
      ...(input.git === undefined ? {} : { git: input.git }),
    },
  };
}

/** Codex's names for the ways to start a conversation. */
const codexSources = { interactive: "cli", non_interactive: "exec", mcp: "mcp" } as const satisfies Record<
  StartSource,
  string
>;
