import type { SnapshotPlaces } from "../../../changes/workspace/snapshot.js";
import { homePaths, type ConversationPlaces } from "../../../config/paths.js";
import type { EventMsg } from "../../../messages/event.js";
import type { OpenOutcome, SaveOutcome } from "../../../messages/actors/rollout-writer.js";
import type { OwnLine } from "../../../messages/rollout-line.js";
import type { ConversationMetadata } from "../../../rollouts/list/list.js";
import type { SavedApproval } from "../../../rollouts/list/pending-approvals.js";
import { snapshotFolder } from "../../../rollouts/layout.js";
import type { BlobStore } from "../../rollout-writer/blob-store.js";
import type { Rollout } from "../../rollout-writer/rollout.js";
import type { ConversationState, RecordedName, RecordedPin } from "../state/state.js";

export interface StoreOpen {
  readonly conversationId: string;
  readonly mode: "create" | "append";
  readonly provider: string;
  readonly model: string;
  /** Used in the name and folder of a new file. */
  readonly now: Date;
  readonly cwd: string;
  /** Take the lock although its owner cannot be proved dead. */
  readonly force: boolean;
}

export interface OpenedRollout {
  readonly outcome: OpenOutcome;
  readonly rollout: Rollout;
  /** Stores the full text of outputs that the model sees only in part; absent when they are not stored. */
  readonly blobs?: BlobStore | undefined;
  /** Where the file changes of turns are stored; absent when they are not. */
  readonly snapshots?: SnapshotPlaces | undefined;
  /** A notice for the user about how it was opened. */
  readonly notice?: string;
}

/** The lines of a conversation, in batches; `end` is final when all have been read. */
export interface StoredLines extends AsyncIterable<readonly OwnLine[]> {
  readonly end: {
    /** The end of the last whole line; zero without a file. */
    readonly bytes: number;
    /** Number of skipped lines, written by a newer version or another program. */
    readonly skipped: number;
  };
}

/** The state folded from a conversation's lines. */
export interface StoredState extends Readonly<StoredLines["end"]> {
  readonly state: ConversationState;
  /** The transcript shown on resume. */
  readonly shown: readonly EventMsg[];
}

/** An approval request in a conversation's file. */
export interface StoredApproval extends SavedApproval {
  readonly conversationId: string;
}

/** Stores conversations: in files, or in an injected recorder. */
export interface Store {
  /**
   * Returns the full id of a conversation given by id, bare UUID, unique prefix or name; rejects when there is none.
   */
  find(text: string): Promise<string>;
  /** Returns the id of the conversation in a file, and uses this file for it from now on. */
  adopt(path: string): Promise<string>;
  has(conversationId: string): Promise<boolean>;
  /** Looks for a conversation only in the directory of new ones; `path` is its file, if it has one. */
  findInOwnDirectory(conversationId: string): Promise<{ readonly path?: string } | undefined>;
  /** Returns the other process that is writing it, if any. */
  holder(conversationId: string): Promise<string | undefined>;
  read(conversationId: string): StoredLines;
  /** Reads the whole conversation without blocking the event loop. */
  load(conversationId: string): Promise<StoredState>;
  open(request: StoreOpen): Promise<OpenedRollout>;
  /**
   * Writes a conversation's recorded name to the index used by lists; with `repair`, only if the index has no newer one.
   */
  indexName(conversationId: string, named: RecordedName, mode: "rename" | "repair"): Promise<SaveOutcome>;
  /** Writes the pin state to the index in the same way. */
  indexPin(conversationId: string, pin: RecordedPin, mode: "pin" | "repair"): Promise<SaveOutcome>;
  /** Lists the saved conversations, newest first; those after the first `limit` may be missing. */
  list(options?: { readonly limit?: number | undefined }): Promise<ConversationMetadata[]>;
  /** Returns what the turns of the `limit` newest conversations wait for; `except` are not looked at. */
  pendingApprovals(limit: number, except: ReadonlySet<string>): Promise<StoredApproval[]>;
  /** Returns what the open turn of a conversation waits for. */
  pendingApproval(conversationId: string): Promise<StoredApproval | undefined>;
  close(): Promise<void>;
}

/** Returns the directories for the file snapshots of one conversation's turns. */
export function snapshotPlaces(
  { home, directory, codexHome }: ConversationPlaces,
  rolloutPath: string,
  { maxBytes, secrets, gitUser }: Pick<SnapshotPlaces, "maxBytes" | "secrets" | "gitUser">,
): SnapshotPlaces {
  return {
    workspaces: homePaths(home).workspaces,
    folder: snapshotFolder(rolloutPath),
    outside: [home, directory, ...(codexHome === undefined ? [] : [codexHome])],
    maxBytes,
    secrets,
    ...(gitUser && { gitUser }),
  };
}
