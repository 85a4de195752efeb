import { FailureError } from "../../messages/errors.js";
import type { LineObject } from "../../rollouts/line-object.js";
import type { CondensedRollout, RolloutStretch } from "../../workers/cpu-jobs.js";
import type { CpuPool } from "../../workers/open-cpu-pool.js";
import { unpack } from "../../workers/pack.js";
import { condenseRollout } from "./condense-rollout.js";

/** Some lines, still packed when they come from a thread. */
export type Piece = Uint8Array | readonly LineObject[];

/** Lets a thread read a stretch. When it could not, whatever the reason, it is read here. */
export async function condenseInThread(pool: CpuPool, stretch: RolloutStretch): Promise<CondensedRollout<Piece>> {
  const outcome = await pool.run("condense_rollout", stretch);
  return outcome.ok ? outcome.value : await condenseRollout(stretch);
}

/** Gives nothing for what a thread could send and nobody can read here, since it is too deep. */
export function linesOf(piece: Piece): readonly LineObject[] | undefined {
  if (!(piece instanceof Uint8Array)) return piece;
  try {
    return unpack(piece) as LineObject[];
  } catch (error) {
    if (error instanceof FailureError) return undefined;
    throw error;
  }
}
