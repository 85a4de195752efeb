/** A saved conversation in a list. */
export interface ConversationMetadata {
  readonly id: string;
  /** The conversation's name, if it has one. */
  readonly name?: string;
  /** Pinned conversations are not cleaned up. */
  readonly pinned?: true;
  /** Time of the last change in milliseconds since 1970. */
  readonly updatedAt: number;
  readonly provider?: string;
  readonly model?: string;
  readonly cwd?: string;
  /** Milliseconds since 1970. */
  readonly createdAt?: number;
  readonly gitBranch?: string;
  readonly gitCommit?: string;
  /** First line of the user's first message, cut at 80 characters. */
  readonly title?: string;
  readonly path?: string;
  /** Size of the file in bytes. */
  readonly size?: number;
  /** Whether the conversation has no user message yet. */
  readonly empty?: boolean;
  readonly damaged?: boolean;
}
