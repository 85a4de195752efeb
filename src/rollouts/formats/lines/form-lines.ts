import { bareId } from "../../../base/text/conversation-id.js";
import type { ResponseItem } from "../../../messages/response-item.js";
import type { GitInfo, OwnLine } from "../../../messages/rollout-line.js";

/** A foreign line converted to Codex's lines; `whole` is false when a part could not be converted. */
export interface ConvertedLines {
  readonly lines: readonly OwnLine[];
  readonly whole: boolean;
}

export function itemLine(timestamp: string, item: ResponseItem): OwnLine {
  return { timestamp, type: "response_item", payload: item };
}

export interface ForeignMeta {
  readonly conversationId: string;
  readonly timestamp: string;
  readonly cwd: string;
  readonly metadata: { readonly provider?: string; readonly model?: string };
  readonly git?: GitInfo;
}

/** Builds the first line for a conversation in a foreign format. */
export function metaLine({ conversationId, timestamp, cwd, metadata, git }: ForeignMeta): OwnLine {
  const payload = { id: bareId(conversationId), timestamp, cwd, originator: "unknown", cli_version: "unknown" };
  return {
    timestamp,
    type: "session_meta",
    metadata,
    payload: { ...payload, source: null, ...(git === undefined ? {} : { git }) },
  };
}
