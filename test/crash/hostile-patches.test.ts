import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { expect, onTestFinished, test } from "vitest";
import { applyPatch } from "../../src/tools/apply-patch.js";
import { writeFile } from "../../src/tools/write-file.js";
import { call, toolContext } from "../tools/tool-context.js";
import { bundleChild } from "./bundle-child.js";
import { HostilePatches } from "./hostile-patches.js";
import { hostileWorld, restock, snapshot } from "./hostile-world.js";
import { hostilePatching, summarize } from "./rounds.js";
import type { Swap } from "./path-swapper.js";
import { newWorld } from "./world.js";

const lanes = 3;
/** After this many patches the files they have used up are restored. */
const restockEvery = 50;
const tools = { apply_patch: applyPatch, write_file: writeFile };

test(
  "no patch and no path writes outside the folder, even while folders are swapped for links",
  async () => {
    const { random } = await newWorld();
    const world = await hostileWorld();
    const before = await snapshot(world.outside);
    const descriptors = await openDescriptors();
    const swapper = await startSwapper(world.swaps);
    const context = await toolContext({ cwd: world.workspace });
    const patches = new HostilePatches(world, random);
    const outcomes = new Map<string, number>();
    let left = hostilePatching.patches;
    const lane = async (): Promise<void> => {
      while (left > 0) {
        left -= 1;
        if (left % restockEvery === 0) await restock(world);
        const { tool, args } = patches.next();
        const outcome = tools[tool].parameters.safeParse(args).success
          ? await call(tools[tool], args, context)
          : { content: "", success: false };
        const key = `${tool} ${outcome.success ? "done" : "refused"}`;
        outcomes.set(key, (outcomes.get(key) ?? 0) + 1);
      }
    };
    await Promise.all(Array.from({ length: lanes }, lane));
    await swapper.stop();
    expect(await snapshot(world.outside)).toEqual(before);
    // With file types, because `recursive` would follow the links without them.
    const entries = await readdir(world.workspace, { recursive: true, withFileTypes: true });
    expect(entries.filter(({ name }) => name.startsWith(".cody-"))).toEqual([]);
    expect(await openDescriptors()).toBeLessThanOrEqual(descriptors);
    // The number is random; without a single success the other checks would prove nothing.
    expect(outcomes.get("apply_patch done")).toBeGreaterThan(0);
    summarize(`hostile patches: 0 writes outside after ${JSON.stringify(Object.fromEntries(outcomes))}`);
  },
  hostilePatching.timeoutMs,
);

async function startSwapper(swaps: readonly Swap[]): Promise<{ stop(): Promise<void> }> {
  const program = await bundleChild("path-swapper");
  const child = spawn(process.execPath, [program, JSON.stringify(swaps)], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const exited = once(child, "exit");
  await once(child.stdout, "data");
  return {
    stop: async () => {
      child.kill("SIGKILL");
      // A swapper that exited by itself has stopped swapping.
      expect((await exited)[1]).toBe("SIGKILL");
    },
  };
}

/** Zero where there is no /proc. */
async function openDescriptors(): Promise<number> {
  return (await readdir("/proc/self/fd").catch(() => [])).length;
}
