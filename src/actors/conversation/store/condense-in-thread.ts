import type { LineObject } from "../../../rollouts/file/line-object.js";
import type { CondensedRollout, RolloutStretch } from "../../../workers/cpu-jobs.js";
import type { CpuPool } from "../../../workers/open-cpu-pool.js";
import { unpack } from "../../../workers/pack.js";
import { condenseRollout } from "./condense-rollout.js";

/** Some lines, still packed when they come from a thread. */
export type Piece = Uint8Array | readonly LineObject[];

/** Lets a thread read a stretch. When it could not, whatever the reason, it is read here. */
export async function condenseInThread(pool: CpuPool, stretch: RolloutStretch): Promise<CondensedRollout<Piece>> {
  const outcome = await pool.run("condense_rollout", stretch);
  return outcome.ok ? outcome.value : await condenseRollout(stretch);
}

export function linesOf(piece: Piece): readonly LineObject[] {
  return piece instanceof Uint8Array ? (unpack(piece) as LineObject[]) : piece;
}
