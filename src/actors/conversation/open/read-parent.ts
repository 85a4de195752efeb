import { EmptyRolloutError, InvalidInputError } from "../../../base/errors.js";
import type { CodyPayload, OwnLine } from "../../../messages/rollout-line.js";
import { legacyLines } from "../../../rollouts/file/legacy-lines.js";
import { TurnEnds } from "../../../rollouts/turn-ends.js";
import { recordedConfig } from "./resolve-settings.js";
import { apply, type ConversationState, emptyState } from "../state/state.js";
import type { Store } from "../store/store.js";
import type { ConversationConfig } from "../../../messages/conversation-config.js";

/** Reads the lines that a fork inherits: those up to the end of a turn, or all. */
export async function readParent(store: Store, id: string, afterTurn: number | undefined): Promise<Parent> {
  const lines = await linesUpTo(store, id, afterTurn);
  const state = emptyState();
  for (const line of lines) apply(state, line);
  if (state.history.length === 0) throw new EmptyRolloutError(id);
  const inherited = lines.filter(isInherited);
  return {
    id,
    lines: isPaginated(state) ? inherited.flatMap(legacyLines) : inherited,
    recorded: recordedConfig(state),
  };
}

async function linesUpTo(store: Store, id: string, afterTurn: number | undefined): Promise<OwnLine[]> {
  const lines: OwnLine[] = [];
  const ends = new TurnEnds();
  for await (const batch of store.read(id)) {
    for (const line of batch) {
      lines.push(line);
      ends.add(line);
    }
  }
  if (afterTurn === undefined) return lines;
  const end = ends.endOf(afterTurn);
  if (end === undefined && ends.turns === 0) throw new EmptyRolloutError(id);
  if (end === undefined) throw new InvalidInputError(`${id} has no turn ${afterTurn}: its last turn is ${ends.turns}`);
  return lines.slice(0, end);
}

const ownRecords: ReadonlySet<string> = new Set<CodyPayload["type"]>(["named", "pinned", "blob"]);

/** Excludes lines that describe only the parent: its meta line, name, pin and stored outputs. */
function isInherited(line: OwnLine): boolean {
  if (line.type === "cody") return !ownRecords.has(line.payload.type);
  return line.type !== "session_meta";
}

/**
 * Whether only Codex may append to it. A line without a number at the end makes such a file unreadable for Codex, and
 * Codex does not show a turn written in our format.
 */
export function isPaginated({ meta }: ConversationState): boolean {
  return meta?.history_mode === "paginated";
}

/** The data that a fork inherits from another conversation. */
export interface Parent {
  readonly id: string;
  readonly lines: readonly OwnLine[];
  readonly recorded: ConversationConfig;
  readonly notice?: string | undefined;
  /** Whether the copy was made to resume a conversation whose file only Codex may write. */
  readonly isResumed?: boolean;
}
