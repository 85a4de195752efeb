import { cp, mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openOwnerSocket } from "../../src/actors/rollout-writer/rollout-locks.js";
import { moveToTrash } from "../../src/rollouts/trash/move-to-trash.js";
import { restore } from "../../src/rollouts/trash/restore.js";
import { finishInterrupted } from "../../src/rollouts/trash/finish-interrupted.js";
import { trashed, nodeTrashFiles as files } from "../../src/rollouts/trash/trash-files.js";
import { conversationId as id, everything, putConversation } from "../rollouts/trash/conversation-on-disk.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { ShortLivedChildren } from "./short-lived-children.js";
import { bundleChild } from "./bundle-child.js";
import { points, summarize, timeoutMs } from "./rounds.js";
import type { TrashOrder } from "./trash-victim.js";
import { newWorld } from "./world.js";

const scenarios = [
  ["trash", false],
  ["trash", true],
  ["restore", false],
  ["restore", true],
  ["remove", false],
] as const;

/** The possible states of a conversation after the operation has finished, and after a death in the middle of it. */
const endings = {
  trash: { done: ["trashed"], died: ["there", "trashed"] },
  restore: { done: ["there"], died: ["there", "trashed"] },
  remove: { done: ["gone"], died: ["trashed", "gone"] },
} as const;

/** Never kill the child: it kills itself. */
const byItself = { reports: Infinity, delay: 0 };

test.each(scenarios)(
  "a process that dies at any disk call while moving a conversation (%s, another disk: %s) loses nothing",
  async (work, acrossDisks) => {
    const { random } = await newWorld();
    const children = new ShortLivedChildren(await bundleChild("trash-victim"));
    const [root, sockets] = [await temporaryFolder(), await temporaryFolder()];
    const socket = await openOwnerSocket(sockets);
    onTestFinished(() => socket.close());
    const home = join(root, "home");
    const [directory, trash] = [join(home, "conversations"), join(home, "trash")];
    const path = await putConversation(directory);
    const conversation = await everything(directory);
    if (work !== "trash") {
      const now = new Date("2026-11-16T00:00:00Z");
      await moveToTrash(files, { id, path, directory, trash, now, graceMs: 1, why: "asked", owner: socket.owner });
    }
    await cp(home, join(root, "sound"), { recursive: true, preserveTimestamps: true });

    /** Returns the number of calls if the operation finished. */
    async function dieAt(deathAt: number): Promise<number | undefined> {
      await rm(home, { recursive: true });
      await cp(join(root, "sound"), home, { recursive: true, preserveTimestamps: true });
      const order: TrashOrder = { home, sockets, id, path, work, acrossDisks, deathAt };
      return (await children.kill(order, byItself))[0]?.line;
    }

    /**
     * Finishes the interrupted operation: the conversation is in one of two states, and can be restored from the trash.
     */
    async function check(deathAt: number, isDone: boolean): Promise<void> {
      await finishInterrupted(files, trash, socket.owner);
      const isThere = (await readdir(directory)).includes(`${id}.jsonl`);
      const [entry, ...others] = await trashed(files, trash);
      expect(others, `death ${deathAt}`).toEqual([]);
      const state = isThere ? "there" : entry === undefined ? "gone" : "trashed";
      expect(isThere && entry !== undefined, `death ${deathAt}`).toBe(false);
      expect(isDone ? endings[work].done : endings[work].died, `death ${deathAt}`).toContain(state);
      if (entry !== undefined) await restore(files, entry, socket.owner);
      await finishInterrupted(files, trash, socket.owner);
      expect(await readdir(trash).catch(() => []), `death ${deathAt}`).toEqual([]);
      if (state === "gone") return;
      expect(await everything(directory), `death ${deathAt}`).toEqual(conversation);
    }

    await mkdir(directory, { recursive: true });
    const calls = (await dieAt(0)) ?? 0;
    await check(0, true);
    const deaths = random.sample(
      Array.from({ length: calls }, (_, index) => index + 1),
      points.deaths,
    );
    for (const deathAt of deaths) await check(deathAt, (await dieAt(deathAt)) !== undefined);
    summarize(`death in the trash (${work}, another disk: ${acrossDisks}): ${calls} calls, ${deaths.length} deaths`);
  },
  timeoutMs,
);
