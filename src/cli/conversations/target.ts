/** A conversation that is there. */
export interface Target {
  readonly id: string;
  /** Its file, when it is not to be found by its id. */
  readonly path?: string;
}
