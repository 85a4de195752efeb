import assert from "node:assert/strict";
import type { ContenderOrder, ContenderWord } from "../support/children/contender.js";
import { Child } from "./child.js";
import type { Report } from "./report.js";
import type { World } from "./world.js";

const contenders = 8;
const latestReport = 80;
/** The file must not grow for as long as the others take to read it. */
const turns = 60;

/** Eight processes that want one conversation. */
export class Fight {
  readonly reports: Report[] = [];
  readonly #world: World;
  readonly #conversation: string;
  #children: Child[] = [];
  #round = 0;
  /** How often the others tried while the owner died, and how often one of them got it at once. */
  withinRounds = 0;
  earlyOwners = 0;

  constructor(world: World, conversation: string) {
    this.#world = world;
    this.#conversation = conversation;
  }

  /** Makes them eight again; whoever lives stays. */
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

  /** Eight takers of one lock whose owner is dead. */
  async killThenRound(owner: Child): Promise<Child> {
    await this.kill(owner);
    await this.recruit();
    return await this.round();
  }

  /**
   * The others try while the owner is killed, at once or when the first of them was refused: at most one gets it, and
   * then or at the next try one does.
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

  /** While the owner lives, nobody else gets it. Only now and then: meanwhile the owner may have played its turns. */
  async contendInVain(owner: Child): Promise<void> {
    if (this.#world.random.next() < 0.5) return;
    const [another] = await this.#contend(this.#others(owner));
    assert(another === undefined, "it was taken from a living owner");
  }

  /** At a random moment of what it reports. */
  async kill(owner: Child): Promise<void> {
    await this.#moment(owner);
    await this.#bury(owner);
  }

  /** Those who still live may end in peace, and leave nothing behind. */
  async dismiss(): Promise<void> {
    await Promise.all(this.#children.map((child) => child.end()));
  }

  /** Counted from when it came to own the conversation, so it may be over already. */
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

  /** Says who came to own it. */
  async #contend(children: readonly Child[]): Promise<Child[]> {
    this.#round += 1;
    const round = this.#round;
    for (const child of children) child.say({ type: "go", round } satisfies ContenderWord);
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
