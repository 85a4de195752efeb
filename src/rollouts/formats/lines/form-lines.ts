import { bareId } from "../../../messages/conversation-id.js";
import type { ResponseItem } from "../../../messages/response-item.js";
import type { GitInfo, OwnLine } from "../../../messages/rollout-line.js";

/** What a line of another form says in Codex's lines; `whole` is false when something could not be taken over. */
export interface FormLines {
  readonly lines: readonly OwnLine[];
  readonly whole: boolean;
}

export function itemLine(timestamp: string, item: ResponseItem): OwnLine {
  return { timestamp, type: "response_item", payload: item };
}

export interface FormMeta {
  readonly conversationId: string;
  readonly timestamp: string;
  readonly cwd: string;
  readonly metadata: { readonly provider?: string; readonly model?: string };
  readonly git?: GitInfo;
}

/** The first line such a conversation would have. */
export function metaLine({ conversationId, timestamp, cwd, metadata, git }: FormMeta): OwnLine {
  const payload = { id: bareId(conversationId), timestamp, cwd, originator: "unknown", cli_version: "unknown" };
  return {
    timestamp,
    type: "session_meta",
    metadata,
    payload: { ...payload, source: null, ...(git === undefined ? {} : { git }) },
  };
}
