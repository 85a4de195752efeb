import type { SnapshotPlaces } from "../../../changes/workspace/snapshot.js";
import type { EventMsg } from "../../../messages/event.js";
import type { OpenOutcome, SaveOutcome } from "../../../messages/rollout-command.js";
import type { OwnLine } from "../../../messages/rollout-line.js";
import type { ConversationMetadata } from "../../../rollouts/list/conversation-metadata.js";
import type { BlobStore } from "../../rollout-writer/blob-store.js";
import type { Rollout } from "../../rollout-writer/rollout.js";
import type { ConversationState, RecordedName, RecordedPin } from "../state/state.js";

export interface StoreOpen {
  readonly conversationId: string;
  readonly mode: "create" | "append";
  readonly provider: string;
  readonly model: string;
  /** For the name and the folder of a new file. */
  readonly now: Date;
  readonly cwd: string;
  /** Take it although its owner cannot be proved dead. */
  readonly force: boolean;
}

export interface OpenedRollout {
  readonly outcome: OpenOutcome;
  readonly rollout: Rollout;
  /** Where outputs of which the model gets a part are kept as a whole; absent when they are not. */
  readonly blobs?: BlobStore | undefined;
  /** Where what its turns change is kept; absent when it is not. */
  readonly snapshots?: SnapshotPlaces | undefined;
  /** What a person should know about how it was opened. */
  readonly notice?: string;
}

/** The lines of a conversation, as many at a time as there are; `end` is final when they have been read. */
export interface StoredLines extends AsyncIterable<readonly OwnLine[]> {
  readonly end: {
    /** Where the last whole line ends; zero for what does not come from a file. */
    readonly bytes: number;
    /** Lines of a newer version, or of another program, that were passed over. */
    readonly skipped: number;
  };
}

/** What a conversation's lines have made of it. */
export interface StoredState extends Readonly<StoredLines["end"]> {
  readonly state: ConversationState;
  /** The transcript shown on resume. */
  readonly shown: readonly EventMsg[];
}

/** Where conversations are kept: in files, or wherever an injected recorder keeps them. */
export interface Store {
  /** The whole id of what a person named by id, bare UUID, unique prefix or name; rejects when there is none. */
  find(text: string): Promise<string>;
  /** The id of the conversation in a file, which from now on is that conversation's. */
  adopt(path: string): Promise<string>;
  has(conversationId: string): Promise<boolean>;
  /** The same where new ones go; `path` is its file, if it is one. */
  kept(conversationId: string): Promise<{ readonly path?: string } | undefined>;
  /** Who else is writing it. */
  holder(conversationId: string): Promise<string | undefined>;
  read(conversationId: string): StoredLines;
  /** Reads it to its end, where that disturbs nobody. */
  load(conversationId: string): Promise<StoredState>;
  open(request: StoreOpen): Promise<OpenedRollout>;
  /**
   * Puts the name that stands in a conversation's lines where lists look for it; to `mend`, unless something newer is
   * said there.
   */
  indexName(conversationId: string, named: RecordedName, mode: "rename" | "mend"): Promise<SaveOutcome>;
  /** The same for whether it is pinned. */
  indexPin(conversationId: string, pin: RecordedPin, mode: "pin" | "mend"): Promise<SaveOutcome>;
  list(): Promise<ConversationMetadata[]>;
  close(): Promise<void>;
}
