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
  readonly path?: string;
  /** Nobody has said anything in it yet. */
  readonly empty?: boolean;
  readonly damaged?: boolean;
}
