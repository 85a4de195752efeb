/** An existing conversation. */
export interface Target {
  readonly id: string;
  /** Its file, if it cannot be found by its id. */
  readonly path?: string;
}
