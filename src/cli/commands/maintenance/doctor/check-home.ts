import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { parseConfig, readConfigFile } from "../../../../config/files/config-file.js";
import { homePaths } from "../../../../config/paths.js";
import { InvalidInputError } from "../../../../base/errors.js";
import { checkRights } from "./check-rights.js";
import type { StoreFinding } from "./finding.js";
import { isStaleTemporary } from "./left-temporary.js";

/** Checks the files beside the conversations: configuration, pointers to active conversations, debug log, trash. */
export async function checkHome(home: string, look: { uid: number; now: number }): Promise<StoreFinding[]> {
  const { active, logs, trash } = homePaths(home);
  const inHome = (await namesIn(home)).filter((name) => ownFiles.test(name));
  const paths = [home, ...inHome.map((name) => join(home, name))];
  for (const folder of [active, logs, trash]) {
    const names = await namesIn(folder);
    if (names.length > 0) paths.push(folder, ...names.map((name) => join(folder, name)));
  }
  const findings: StoreFinding[] = [];
  for (const path of paths) findings.push(...(await checkFile(path, look)));
  return [...findings, ...(await checkConfig(home))];
}

const ownFiles =
  /^(?:config\.(?:json|ya?ml)|heads\.json|codex-(?:heads|pins)\.json|index\.sqlite|relinks\.json|retention\.json|tokens\.json)/;
const madeForAMoment = /\.tmp$|\.lock(?:\.|$)/;

/** Follows links, because a configuration may be stored elsewhere. */
async function checkFile(path: string, { uid, now }: { uid: number; now: number }): Promise<StoreFinding[]> {
  const stats = await stat(path).catch(() => undefined);
  if (stats === undefined) return [];
  const isLeft = stats.isFile() && madeForAMoment.test(path) && isStaleTemporary(stats, now);
  const rights = checkRights({ path, stats, uid, ownership: "ours" });
  return isLeft ? [...rights, { kind: "temporary", path }] : rights;
}

async function checkConfig(home: string): Promise<StoreFinding[]> {
  let path = home;
  try {
    const file = await readConfigFile(home);
    path = file?.path ?? home;
    const { warnings } = file === undefined ? { warnings: [] } : await parseConfig(file);
    return warnings.map((reason) => ({ kind: "unusable_config", path, reason }));
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    return [{ kind: "unusable_config", path, reason: error.message }];
  }
}

async function namesIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch((): string[] => []);
  return names.toSorted();
}
