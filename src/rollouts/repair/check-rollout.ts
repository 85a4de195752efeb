import { needsRepair, type RolloutLocation, scanRollout } from "./repair-scan.js";

/** A finding about a rollout for the user; it never quotes the file. */
export type RolloutFinding = RolloutFact & { readonly id: string; readonly path: string };

type RolloutFact =
  | { readonly kind: "damaged"; readonly line: number; readonly reason: string; readonly damagedLines: number }
  /** The rollouts with which it begins cannot be read. */
  | { readonly kind: "beginning_missing"; readonly reason: string }
  | { readonly kind: "first_line_missing" }
  | { readonly kind: "torn"; readonly bytes: number }
  | { readonly kind: "newline_missing" };

export interface CheckOptions {
  readonly signal: AbortSignal;
  /** Called only when the end of the file looks as if it is being written. */
  readonly isInUse: () => Promise<boolean>;
}

/** Reads a rollout to its end and returns its problems; rejects when it cannot be read. */
export async function checkRollout(place: RolloutLocation, options: CheckOptions): Promise<RolloutFinding[]> {
  const { conversationId: id, path } = place;
  const facts = await factsOf(place, options);
  return facts.map((fact) => ({ ...fact, id, path }));
}

async function factsOf(place: RolloutLocation, { signal, isInUse }: CheckOptions): Promise<RolloutFact[]> {
  const scan = await scanRollout(place, signal);
  const facts: RolloutFact[] = [];
  if (scan.beginning !== undefined) facts.push({ kind: "beginning_missing", reason: scan.beginning });
  if (!needsRepair(scan)) return facts;
  const { torn, damaged } = scan;
  const damagedLines = damaged.count - (torn === undefined ? 0 : 1);
  const [first] = damaged.listed;
  if (damagedLines > 0 && first !== undefined) {
    facts.push({ kind: "damaged", line: first.number, reason: first.reason, damagedLines });
  } else if (torn === undefined && scan.firstLine !== undefined) {
    facts.push({ kind: "first_line_missing" });
  }
  const isEndOpen = torn !== undefined || scan.unterminated;
  if (!isEndOpen || (await isInUse())) return facts;
  return [...facts, torn === undefined ? { kind: "newline_missing" } : { kind: "torn", bytes: torn.bytes }];
}
