import { realRootOf } from "../../../config/project/project.js";
import { removedItems } from "../../../rollouts/compacted-away.js";
import type { EarlierItem } from "../../../tools/tool.js";
import type { Rollout } from "../../rollout-writer/rollout.js";
import type { Settings } from "../state/settings.js";
import type { ConversationState } from "../state/state.js";
import type { ActiveTurn } from "../turn/active-turn.js";
import type { TurnBudget } from "../turn/turn-budget.js";
import { type ChangedTurn, TurnChanges } from "../turn/turn-changes.js";
import { OutputStore } from "./kept-outputs.js";
import { type PendingCall, prepareCall } from "./prepare-call.js";
import { type CallsEnd, runCalls } from "./run-calls.js";
import type { CallContext } from "./call-world.js";
import type { ConversationContext, TurnParts } from "../turn/turn-world.js";

/** The calls of one turn. Their context is created for the first call: most turns have none, and a thousand may run. */
export class TurnCalls {
  readonly #world: ConversationContext;
  readonly #turn: ActiveTurn;
  readonly #settings: Settings;
  readonly #budget: TurnBudget;
  #made: CallContext | undefined;

  constructor(world: ConversationContext, turn: ActiveTurn, settings: Settings, budget: TurnBudget) {
    this.#world = world;
    this.#turn = turn;
    this.#settings = settings;
    this.#budget = budget;
  }

  /** Runs calls and records their outputs; returns whether the turn continues. */
  async run(waiting: readonly PendingCall[]): Promise<CallsEnd> {
    if (waiting.length === 0) return "go_on";
    const { parts, recording } = this.#world;
    const calls = waiting.map((call) => prepareCall(call, (name) => parts.tool(name)));
    return await runCalls(calls, (this.#made ??= this.#make()), (item) =>
      recording.line({ type: "response_item", payload: item }, this.#turn.submissionId),
    );
  }

  /** Resolves when their outputs are stored and their changes are reported. */
  async end(): Promise<void> {
    await Promise.all([this.#made?.outputs?.settled(), this.#made?.changes?.end()]);
  }

  #make(): CallContext {
    const { parts, cell, rollout, recording, approvals, publish } = this.#world;
    const { submissionId, turnId } = this.#turn;
    const settings = this.#settings;
    const { blobs, outputRoom } = parts;
    const changed: ChangedTurn = {
      turnId,
      cwd: settings.cwd,
      now: () => parts.now(),
      publish: (msg) => publish(msg, submissionId),
      record: (line) => recording.line(line, submissionId),
    };
    let root: Promise<string | undefined> | undefined;
    return {
      turn: this.#turn,
      settings,
      projectRoot: () => (root ??= realRootOf(settings.cwd)),
      isTrusted: (path) => parts.isTrusted(path),
      approvals,
      allowed: cell.allowed,
      budget: this.#budget,
      env: parts.toolEnv,
      privatePaths: parts.privatePaths,
      stamps: cell.stamps,
      running: new Set(),
      outputs: blobs && new OutputStore(blobs, outputRoom, this.#world, submissionId),
      changes: parts.changes && new TurnChanges(parts.changes, changed),
      ...earlierItems(parts, rollout, cell.state),
      saveKnowledge: parts.saveKnowledge(settings),
      newId: () => parts.newId(),
      publish: (msg) => publish(msg, submissionId),
      flush: () => rollout.flush(),
    };
  }
}

/** Gives tools access to items that were compacted away; empty when the conversation is not saved. */
function earlierItems(
  { compaction }: Pick<TurnParts, "compaction">,
  rollout: Rollout,
  state: ConversationState,
): { readonly earlier?: () => AsyncIterable<EarlierItem> } {
  return rollout.path === null ? {} : { earlier: read };

  async function* read(): AsyncGenerator<EarlierItem> {
    // Recently compacted lines may not be in the file yet.
    await rollout.flush();
    yield* removedItems(compaction.savedLines(), state.history);
  }
}
