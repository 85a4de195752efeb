import { rm } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { AppendedConversations } from "./appended-conversations.js";
import { ShortLivedChildren } from "./short-lived-children.js";
import { bundleChild } from "./bundle-child.js";
import { Random } from "./random.js";
import { appending, summarize } from "./rounds.js";
import { newWorld } from "./world.js";

/** How often the process of the same conversations is killed before new conversations take their place. */
const killsOfOne = 8;

test(
  "every turn a recorder has acknowledged survives kill -9 exactly once, and the next process appends after it",
  async () => {
    const { home, runtimeDirectory, random } = await newWorld();
    const children = new ShortLivedChildren(await bundleChild("appender"));
    const sum = { kills: 0, files: 0, turns: 0, tornTails: 0, strays: 0 };
    const begun = performance.now();
    const isRunning = (): boolean => sum.kills < appending.kills && performance.now() - begun < appending.withinMs;

    async function lane(number: number): Promise<void> {
      const chance = new Random(random.whole(0, 2 ** 31));
      for (let group = 1; isRunning(); group += 1) {
        const directory = join(home, `lane-${number}-${group}`);
        const appended = new AppendedConversations(directory, runtimeDirectory, chance);
        for (let kills = 0; kills < killsOfOne && isRunning(); kills += 1) {
          sum.kills += 1;
          await appended.kill(children);
          expect(appended.lost).toEqual([]);
        }
        sum.strays += await appended.goOn();
        expect(appended.lost).toEqual([]);
        sum.files += appended.conversations.filter(({ isThere }) => isThere).length;
        sum.turns += appended.acknowledged;
        sum.tornTails += appended.tornTails;
        await rm(directory, { recursive: true });
      }
    }

    await Promise.all(Array.from({ length: availableParallelism() + 1 }, (_, number) => lane(number)));
    summarize(
      `kill -9 while appending: ${sum.kills} kills in ${Math.round((performance.now() - begun) / 1000)} s, ` +
        `${sum.turns} turns acknowledged, 0 lost, 0 doubled, ${sum.files} files, 0 unreadable, ` +
        `${sum.tornTails} torn tails found, ${sum.strays} temporary files left`,
    );
  },
  appending.timeoutMs,
);
