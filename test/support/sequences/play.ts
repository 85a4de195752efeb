import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Conversation } from "../../../src/actors/conversation/handle.js";
import type { EventMsg } from "../../../src/messages/event.js";
import type { ResponseItem } from "../../../src/messages/response-item.js";
import type { MockReply } from "../../../src/mock-llm/script.js";
import type { UserInput } from "../../../src/messages/user-input.js";
import { Child } from "../../crash/child.js";
import type { SequencerOrder } from "../children/sequencer.js";
import { contextWindow } from "./manager.js";
import { lastPlaces, type Place, places } from "./places.js";
import { momentOf, replyFor } from "./moments.js";
import { answerReply, callsReply, cutReply, fillingReply, refusedReply, slowReply } from "./replies.js";
import { type SavedFile, savedFile } from "./saved.js";
import type { Moment, Sequence, Step } from "./steps.js";
import { readTurn, type TurnEnd } from "./turns.js";
import { fine, type SequenceWorld, type Side } from "./world.js";

const pixel =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const images = { png: pixel, address: "https://example.com/a.png", bmp: "data:image/bmp;base64,AAAA" };
const halfALine = '{"timestamp":"2026-01-01T00:00:00.000Z","type":"response_item","payload":{"type":"mess';

/** The state of a conversation when all of it was on disk. */
interface Promised extends SavedFile {
  readonly history: readonly ResponseItem[];
}

/** Plays a sequence and ends it with a turn over each API; returns the requests that the server refused. */
export async function playSequence(world: SequenceWorld, { begins, steps }: Sequence): Promise<string[]> {
  world.refusals.length = 0;
  const player = new SequencePlayer(world, placeAt(begins));
  await player.begin();
  try {
    for (const step of steps) await player.play(step);
    for (const place of lastPlaces) await player.lastTurn(place);
    await player.finish();
  } finally {
    await player.end();
  }
  return [...world.refusals];
}

class SequencePlayer {
  readonly #world: SequenceWorld;
  #place: Place;
  #side = 0;
  #conversation: Conversation | undefined;
  #promised: Promised = { history: [], bytes: 0, compactions: 0, ends: new Map() };
  #turn = 0;

  constructor(world: SequenceWorld, place: Place) {
    this.#world = world;
    this.#place = place;
  }

  async begin(): Promise<void> {
    this.#conversation = (await this.#home.manager.newConversation(this.#place)).conversation;
    await this.#promise();
  }

  async play(step: Step): Promise<void> {
    switch (step.kind) {
      case "talk":
        return await this.#plainTurn([answerReply(step.answer, step.thinks)]);
      case "work":
        return await this.#plainTurn([callsReply(step.calls, step), answerReply("plain", step.thinks)]);
      case "show":
        return await this.#plainTurn([], [{ type: "image", image_url: images[step.image] }, ...this.#question()]);
      case "interrupt":
        return await this.#interrupt(step.when, step.thinks, step.deltas);
      case "cut": {
        const whole = step.inCalls
          ? callsReply(["approved", "approved"], { thinks: step.thinks, says: true })
          : answerReply("plain", step.thinks);
        return await this.#plainTurn([cutReply(step.cut, whole, step.place)]);
      }
      case "refused":
        return await this.#plainTurn(Array.from({ length: step.times }, () => refusedReply(step.by)));
      case "fill":
        return await this.#plainTurn([fillingReply(step.calls, contextWindow)]);
      case "crash":
        return await this.#crash(step.when, step.left, step.thinks);
      case "killed":
        return await this.#kill(step.thinks, step.reports);
      case "reopen":
        return await this.#moveTo(this.#place);
      case "switch":
        return await this.#moveTo(placeAt(step.place));
      case "compact":
        await this.#open.compact({ strategy: step.strategy });
        return await this.#promise();
      case "undo":
        await this.#open.undoCompaction();
        return await this.#promise();
      case "model":
        return await this.#changeModel(placeAt(step.place));
      case "queue":
        return await this.#queue(step.interrupted);
      case "pin":
        await this.#open.pin(`never forget question ${this.#turn}`);
        return await this.#promise();
      case "lose":
        // Keep the reasoning of an answer complete: cody cannot tell that some of it is missing, but the server can.
        await this.#open.replaceHistory(
          this.#open.getHistory().filter(({ type }, at) => type === "reasoning" || (at + step.from) % step.every > 0),
        );
        return await this.#promise();
      case "fork":
        return await this.#fork(step.back, placeAt(step.place));
      default:
        return step satisfies never;
    }
  }

  async lastTurn(place: Place): Promise<void> {
    await this.#moveTo(place);
    const end = await this.#begunTurn([], this.#question());
    const isFine = end?.type === "task_complete" && (end.error ?? null) === null && end.last_agent_message === fine;
    if (!isFine) {
      const why = [`the last turn over ${place.api} ended with ${JSON.stringify(end)}`, ...this.#world.refusals];
      throw new Error(why.join("\n"));
    }
  }

  /** Checks that every started turn has ended once. */
  async finish(): Promise<void> {
    await this.#open.flush();
    const { ends, compactions } = await savedFile(this.#open.rolloutPath ?? "");
    this.#world.counts.compactions += compactions;
    const wrong = [...ends].filter(([, count]) => count !== 1);
    if (wrong.length > 0) throw new Error(`turns that did not end once: ${JSON.stringify(wrong)}`);
  }

  async end(): Promise<void> {
    await this.#conversation?.shutdown();
    for (const { home } of this.#world.sides) {
      const folder = join(home, "conversations");
      for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true });
    }
  }

  get #home(): Side {
    return this.#world.sides[this.#side === 0 ? 0 : 1];
  }

  get #open(): Conversation {
    if (this.#conversation === undefined) throw new Error("no conversation is open");
    return this.#conversation;
  }

  #question(): UserInput[] {
    this.#turn += 1;
    return [{ type: "text", text: `question ${this.#turn}` }];
  }

  async #plainTurn(replies: readonly MockReply[], input = this.#question()): Promise<void> {
    await this.#begunTurn(replies, input);
    await this.#promise();
  }

  async #begunTurn(
    replies: readonly MockReply[],
    input: readonly UserInput[],
    isEnough?: (msg: EventMsg) => boolean | Promise<boolean>,
  ): Promise<TurnEnd | undefined> {
    this.#world.counts.turns += 1;
    this.#world.replies.splice(0, Infinity, ...replies);
    const id = await this.#open.submit(input);
    const end = await readTurn(this.#open, id, isEnough);
    if (end !== undefined && end.saved !== true) throw new Error(`the turn was not saved: ${JSON.stringify(end)}`);
    return end;
  }

  /** Switches to another model of the same provider. */
  async #changeModel({ api, model, effort }: Place): Promise<void> {
    if (api !== this.#place.api) return;
    this.#place = { ...this.#place, model, effort };
    await this.#open.submit({ type: "override_turn_context", model, effort });
  }

  /** Submits two inputs at once, of which the first may be interrupted. */
  async #queue(interrupted: boolean): Promise<void> {
    this.#world.replies.splice(0, Infinity, callsReply(["same id", "failing"], { thinks: true, says: true }));
    const first = await this.#open.submit(this.#question());
    const second = await this.#open.submit(this.#question());
    if (interrupted) await this.#open.interrupt();
    this.#world.counts.turns += 2;
    await readTurn(this.#open, first);
    await readTurn(this.#open, second);
    await this.#promise();
  }

  async #interrupt(when: Moment, thinks: boolean, deltas: number): Promise<void> {
    const come = momentOf(when, deltas);
    await this.#begunTurn([replyFor(when, thinks)], this.#question(), async (msg) => {
      if (come(msg)) await this.#open.interrupt();
      return false;
    });
    await this.#promise();
  }

  /** Simulates a crash: only what is on disk at that moment is left. */
  async #crash(when: "idle" | Moment, left: number, thinks: boolean): Promise<void> {
    this.#world.counts.crashes += 1;
    if (when !== "idle") await this.#begunTurn([replyFor(when, thinks)], this.#question(), momentOf(when, 2));
    const crashed = this.#open;
    const path = crashed.rolloutPath ?? "";
    const bytes = await readFile(path);
    const kept = this.#promised.bytes + Math.floor(((bytes.length - this.#promised.bytes) * Math.min(left, 100)) / 100);
    await crashed.shutdown();
    await removeAll(path);
    this.#side = 1 - this.#side;
    const copy = join(this.#home.home, "conversations", basename(path));
    await writeFile(copy, Buffer.concat([bytes.subarray(0, kept), Buffer.from(left > 100 ? halfALine : "")]));
    await this.#resume(crashed.id);
  }

  async #kill(thinks: boolean, reports: number): Promise<void> {
    this.#world.counts.kills += 1;
    const { id } = this.#open;
    await this.#open.shutdown();
    const { home, runtimeDirectory, url } = this.#home;
    this.#world.replies.splice(
      0,
      Infinity,
      slowReply(thinks),
      callsReply(["approved", "denied"], { thinks, says: true }),
    );
    const order: SequencerOrder = { home, runtimeDirectory, url, conversation: id, place: this.#place };
    const child = new Child("children/sequencer", order);
    await child.until(({ type }) => type === "done" || child.reports.length > reports);
    await child.kill();
    await this.#resume(id);
  }

  async #moveTo(place: Place): Promise<void> {
    this.#world.counts.switches += 1;
    this.#place = place;
    const { id } = this.#open;
    await this.#open.shutdown();
    await this.#resume(id);
  }

  async #fork(back: number, place: Place): Promise<void> {
    const { id, turns } = this.#open;
    // There is nothing to fork.
    if (this.#open.getHistory().length === 0) return;
    const afterTurn = turns - back;
    const limit = back > 0 && afterTurn > 0 ? { afterTurn } : {};
    const forked = await this.#home.manager.forkConversation(id, { ...place, ...limit });
    await this.#open.shutdown();
    this.#place = place;
    this.#conversation = forked.conversation;
    await this.#promise();
  }

  /** Checks that everything acknowledged is there; unacknowledged lines may be, and an open turn ends. */
  async #resume(id: string): Promise<void> {
    this.#world.replies.length = 0;
    const resumed = await this.#home.manager.resumeConversation(id, { ...this.#place, allowEmpty: true });
    this.#conversation = resumed;
    const { history, compactions } = this.#promised;
    const found = resumed.getHistory();
    const path = resumed.rolloutPath ?? "";
    const isSame = isDeepStrictEqual(found.slice(0, history.length), history);
    if (!isSame && (await savedFile(path)).compactions === compactions) {
      throw new Error(`the history before was ${JSON.stringify(history)}, resumed was ${JSON.stringify(found)}`);
    }
    if (resumed.openTurn !== undefined) await readTurn(resumed, resumed.openTurn.turnId);
    await this.#promise();
  }

  async #promise(): Promise<void> {
    const saved = await this.#open.flush();
    if (saved.status !== "saved") throw new Error(`not saved: ${JSON.stringify(saved)}`);
    this.#promised = { history: this.#open.getHistory(), ...(await savedFile(this.#open.rolloutPath ?? "")) };
  }
}

/** Removes a file and the files that belong to it. */
async function removeAll(path: string): Promise<void> {
  const folder = dirname(path);
  const names = (await readdir(folder)).filter((name) => name.startsWith(basename(path)));
  for (const name of names) await rm(join(folder, name), { recursive: true });
}

function placeAt(index: number): Place {
  const place = places[index];
  if (place === undefined) throw new Error(`there is no place ${index}`);
  return place;
}
