/** A saved conversation, as a list shows it. */
export interface ConversationMetadata {
  readonly id: string;
  /** How it is called, if it is. */
  readonly name?: string;
  /** It stays when old conversations are cleaned up. */
  readonly pinned?: true;
  /** Milliseconds since 1970 of the last change. */
  readonly updatedAt: number;
  readonly provider?: string;
  readonly model?: string;
  readonly cwd?: string;
  /** Milliseconds since 1970. */
  readonly createdAt?: number;
  readonly gitBranch?: string;
  readonly gitCommit?: string;
  /** The first line of what a person said first, cut at 80 characters. */
  readonly title?: string;
  readonly path?: string;
  /** Of its file, in bytes. */
  readonly size?: number;
  /** Nobody has said anything in it yet. */
  readonly empty?: boolean;
  readonly damaged?: boolean;
}
