import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import type { Conversation } from "../../src/actors/conversation/handle.js";
import { Deferred } from "../../src/base/time/waiting.js";
import type { Event } from "../../src/messages/event.js";
import { FailureError } from "../../src/messages/failure-error.js";
import type { ReviewDecision } from "../../src/messages/tools/approval.js";
import { type JsonLine, rolloutLines } from "../support/rollout-lines.js";
import type { ShardWorkers } from "../support/shard-workers.js";

interface MortalParts {
  readonly conversation: Conversation;
  readonly workers: ShardWorkers;
  /** The folder of the conversation, in which its calls have their effects. */
  readonly cwd: string;
  /** Decides on an approval request, at once or later. */
  decide(): Promise<ReviewDecision>;
}

interface SeenTurn {
  readonly ends: string[];
  starts: number;
  /** The thread that has begun to answer. */
  thread: number | undefined;
  isSaved: boolean;
  readonly ended: Deferred<string>;
}

const interrupted = "interrupted, result unknown";

/** A conversation whose threads die, with everything that its reader has seen of it. */
export class MortalConversation {
  readonly conversation: Conversation;
  readonly #parts: MortalParts;
  readonly #turns = new Map<string, SeenTurn>();
  readonly #read: Promise<void>;
  #seq = 0;
  #calls = 0;

  constructor(parts: MortalParts) {
    this.conversation = parts.conversation;
    this.#parts = parts;
    this.#read = this.#readAll();
    this.#read.catch(() => undefined);
  }

  get turns(): number {
    return this.#turns.size;
  }

  /** Submits an input, and resolves with the type of its end. */
  async play(input: string): Promise<string> {
    const id = await this.conversation.submit(`thread ${input}`);
    return await Promise.race([this.#turn(id).ended.promise, this.#readEnd()]);
  }

  /** An input whose answer is a call with an effect that can be counted. */
  effect(): string {
    return `append call_${(this.#calls += 1)} ${this.#effects}`;
  }

  /** Shuts the conversation down and compares its file with what its reader has seen. */
  async finish(): Promise<void> {
    await this.conversation.shutdown();
    await this.#read;
    const lines = await rolloutLines(this.conversation.rolloutPath);
    expectTurns(lines, this.#turns);
    expectEffects(lines, await readFile(join(this.#parts.cwd, this.#effects), "utf8").catch(() => ""));
  }

  get #effects(): string {
    return `effects-${this.conversation.id}`;
  }

  async #readAll(): Promise<void> {
    for await (const event of this.conversation.events({ since: 0, lossless: true })) this.#note(event);
  }

  /** Rejects when a check of the reader has failed or the events have ended. */
  async #readEnd(): Promise<never> {
    await this.#read;
    throw new Error(`the events of ${this.conversation.id} have ended`);
  }

  #note({ seq, id, msg }: Event): void {
    expectNext(seq, this.#seq++);
    switch (msg.type) {
      case "task_started":
        this.#turn(id).starts += 1;
        return;
      case "agent_message_delta": {
        const thread = /^@(\d+) /.exec(msg.delta)?.[1];
        if (thread !== undefined) this.#turn(id).thread = Number(thread);
        return;
      }
      case "exec_approval_request":
        void this.#answer(msg.approval_id);
        return;
      case "task_complete":
        this.#turn(id).isSaved = msg.saved === true;
        return this.#end(id, msg.type);
      case "turn_aborted": {
        expectDead(this.#parts.workers, this.#turn(id), `turn ${id} of ${this.conversation.id}: ${msg.reason}`);
        return this.#end(id, msg.type);
      }
      case "error":
        // An answer to a request may come when its turn has ended.
        if (msg.message.startsWith("no open approval request")) return;
        throw new Error(`${this.conversation.id}: ${msg.message}`);
      default:
    }
  }

  #end(id: string, type: string): void {
    const turn = this.#turn(id);
    turn.ends.push(type);
    turn.ended.resolve(type);
  }

  async #answer(id: string): Promise<void> {
    const decision = await this.#parts.decide();
    // The turn and the conversation may have ended meanwhile.
    await this.conversation.submit({ type: "exec_approval", id, decision }).catch((error: unknown) => {
      const isLate = error instanceof FailureError && ["invalid_request", "actor_stopped"].includes(error.code);
      if (!isLate) throw error;
    });
  }

  #turn(id: string): SeenTurn {
    let turn = this.#turns.get(id);
    if (turn === undefined) {
      turn = { ends: [], starts: 0, thread: undefined, isSaved: false, ended: new Deferred<string>() };
      this.#turns.set(id, turn);
    }
    return turn;
  }
}

function expectNext(seq: number, expected: number): void {
  expect(seq).toBe(expected);
}

/** Only the death of its thread aborts a turn. */
function expectDead({ ended }: ShardWorkers, { thread }: SeenTurn, aborted: string): void {
  if (thread !== undefined && !ended.has(thread)) throw new Error(`${aborted}, but its thread ${thread} is alive`);
}

/** Every turn has one end for its readers and in the file, where every turn that was reported as saved is. */
function expectTurns(lines: readonly JsonLine[], turns: ReadonlyMap<string, SeenTurn>): void {
  const idsOf = (...types: string[]) => ofType(lines, ...types).map(({ payload }) => payload["turn_id"]);
  const started = idsOf("task_started");
  expect(idsOf("task_complete", "turn_aborted")).toEqual(started);
  expect(new Set(started).size).toBe(started.length);
  const completed = idsOf("task_complete");
  for (const [id, { ends, starts, isSaved }] of turns) {
    expect({ id, starts, ends: ends.length }).toEqual({ id, starts: Math.min(starts, 1), ends: 1 });
    if (isSaved) expect(completed.filter((turn) => turn === id)).toEqual([id]);
  }
}

/** Every call has one output, and an effect that agrees with it: once if it ran, at most once if that is unknown. */
function expectEffects(lines: readonly JsonLine[], effects: string): void {
  const outputs = ofType(lines, "function_call_output");
  const calls = outputs.map(({ payload }) => String(payload["call_id"]));
  expect(new Set(calls).size).toBe(calls.length);
  const done = effects.split("\n").slice(0, -1);
  expect(done.filter((call) => !calls.includes(call))).toEqual([]);
  for (const { payload } of outputs) {
    const [call, output] = [String(payload["call_id"]), JSON.stringify(payload["output"])];
    const count = done.filter((other) => other === call).length;
    const hasRun = /exit_code\W+0\b|Exit code: 0/.test(output) ? 1 : 0;
    const expected = output.includes(interrupted) ? Math.min(count, 1) : hasRun;
    expect({ call, output, count }).toEqual({ call, output, count: expected });
  }
}

function ofType(lines: readonly JsonLine[], ...types: string[]): JsonLine[] {
  return lines.filter(({ payload }) => types.includes(String(payload["type"])));
}
