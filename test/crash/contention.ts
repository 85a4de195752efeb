import assert from "node:assert/strict";
import type { ContenderOrder, ContenderMessage } from "../support/children/contender.js";
import { Child } from "./child.js";
import type { Report } from "./report.js";
import type { World } from "./world.js";

const contenders = 8;
const latestReport = 80;
/** Limits the file size, because the other processes read the file at every try. */
const turns = 60;

/** Eight processes that compete for one conversation. */
export class Contention {
  readonly reports: Report[] = [];
  readonly #world: World;
  readonly #conversation: string;
  #children: Child[] = [];
  #round = 0;
  /** How often the others tried while the owner died, and how often one of them succeeded at once. */
  withinRounds = 0;
  earlyOwners = 0;

  constructor(world: World, conversation: string) {
    this.#world = world;
    this.#conversation = conversation;
  }

  /** Starts processes until there are eight; living ones stay. */
  async recruit(): Promise<void> {
    const { home, runtimeDirectory, random } = this.#world;
    while (this.#children.length < contenders) {
      const seed = random.whole(0, 2 ** 31);
      const order: ContenderOrder = { home, runtimeDirectory, conversation: this.#conversation, seed, turns };
      this.#children.push(new Child("children/contender", order));
    }
    await Promise.all(this.#children.map((child) => child.until(({ type }) => type === "ready")));
  }

  async round(): Promise<Child> {
    const [owner, another] = await this.#contend(this.#children);
    assert(owner !== undefined, "nobody came to own it");
    assert(another === undefined, "two came to own it");
    return owner;
  }

  /** Kills the owner, then lets eight processes compete for its lock. */
  async killThenRound(owner: Child): Promise<Child> {
    await this.kill(owner);
    await this.recruit();
    return await this.round();
  }

  /**
   * The others try while the owner is killed, at once or after the first refusal: at most one succeeds in this round,
   * and one does in this round or the next.
   */
  async killWithinRound(owner: Child): Promise<Child> {
    this.withinRounds += 1;
    await this.#moment(owner);
    const others = this.#others(owner);
    const contending = this.#contend(others);
    const round = this.#round;
    const isVerdict = (report: Report): boolean => report.round === round;
    if (this.#world.random.next() < 0.5) await Promise.race(others.map((child) => child.until(isVerdict)));
    owner.signal("SIGKILL");
    const [early, another] = await contending;
    assert(another === undefined, "two came to own it");
    if (early !== undefined) this.earlyOwners += 1;
    await this.#bury(owner);
    await this.recruit();
    return early ?? (await this.round());
  }

  /**
   * While the owner lives, no other process gets the conversation. Not in every round: the owner may meanwhile have
   * finished its turns.
   */
  async contendInVain(owner: Child): Promise<void> {
    if (this.#world.random.next() < 0.5) return;
    const [another] = await this.#contend(this.#others(owner));
    assert(another === undefined, "it was taken from a living owner");
  }

  /** Kills the owner at a random report. */
  async kill(owner: Child): Promise<void> {
    await this.#moment(owner);
    await this.#bury(owner);
  }

  /** Lets the living processes exit normally. */
  async dismiss(): Promise<void> {
    await Promise.all(this.#children.map((child) => child.end()));
  }

  /** Counted from the report of ownership, so the moment may have passed already. */
  async #moment(owner: Child): Promise<void> {
    let left = this.#world.random.magnitude(1, latestReport);
    await owner.until(
      () => --left <= 0,
      owner.reports.findIndex(({ type }) => type === "owner"),
    );
  }

  async #bury(owner: Child): Promise<void> {
    await owner.kill();
    this.#children = this.#others(owner);
    this.reports.push(...owner.reports);
  }

  /** Lets these processes compete; returns the ones that became owner. */
  async #contend(children: readonly Child[]): Promise<Child[]> {
    this.#round += 1;
    const round = this.#round;
    for (const child of children) child.say({ type: "go", round } satisfies ContenderMessage);
    const verdicts = await Promise.all(
      children.map(async (child) => {
        const { type, message } = await child.until((report) => report.round === round);
        if (type === "refused")
          assert.match(message ?? "", /is in use by (pid \d+|a process that is just locking it)$/);
        return { child, type };
      }),
    );
    return verdicts.filter(({ type }) => type === "owner").map(({ child }) => child);
  }

  #others(owner: Child): Child[] {
    return this.#children.filter((child) => child !== owner);
  }
}
