import { createHash, randomUUID } from "node:crypto";
import { lstat, mkdir, readdir, readFile, rename, rm, rmdir, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { makeDirectory } from "../base/fs/make-directory.js";
import { processStartTime, processState } from "../base/process/process-state.js";
import { systemCode } from "../base/system-error.js";

/** A path that must not exist for commands, and does not exist: something has to be there to mount on. */
export interface Placeholder {
  readonly path: string;
  /** The content of a file; without it, the placeholder is a folder. */
  readonly text?: string;
}

/** The placeholders of a running command; disposing removes them. */
interface HeldPlaceholders extends AsyncDisposable {
  /** The paths that exist now. Where nothing could be created, a command can create nothing either. */
  readonly paths: readonly string[];
}

/** A placeholder with the identity of what was created: something else at its path is the user's. */
interface Created extends Placeholder {
  /** Absent in the claim of a command that was killed while it created its placeholders. */
  readonly identity?: string;
}

/**
 * The file in which a command declares its placeholders. The name says what state it is in: `claim` while the command
 * runs, `ending` while it removes them, and `left` if another command still needs them.
 */
interface Claim {
  readonly name: string;
  readonly created: readonly Created[];
  /** A path that is older than the claim is not a placeholder. */
  readonly since: bigint;
  readonly isInUse: boolean;
  readonly isEnding: boolean;
}

const waitMs = 2;

/** Removing placeholders takes milliseconds. */
const maxWaits = 2_000;

const nameParts = /^([0-9a-f]{16})\.(\d+)\.(\d*)\.[0-9a-f-]+\.(claim|ending|left)(?:\.tmp)?$/;

let ownStartTime: Promise<string> | undefined;

/**
 * The placeholders of commands, which several processes may need at the same time. Each command writes a claim before
 * it creates any, and the last one removes them. The claims of processes that were killed are found by the next
 * command, and by `sweep`.
 */
export class Placeholders {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Creates placeholders for a command in a workspace, except where there is something by now. */
  async create(workspace: string, wanted: readonly Placeholder[]): Promise<HeldPlaceholders> {
    if (wanted.length === 0) return { paths: [], [Symbol.asyncDispose]: async () => undefined };
    await makeDirectory(this.#folder);
    const key = keyOf(workspace);
    const startTime = await (ownStartTime ??= processStartTime(process.pid));
    const base = `${key}.${process.pid}.${startTime}.${randomUUID()}`;
    const own = join(this.#folder, `${base}.claim`);
    await writeFile(own, JSON.stringify(wanted), { mode: 0o600, flag: "wx" });
    try {
      const others = await this.#settledClaims(key, base);
      const known = new Set(others.flatMap(({ created }) => created.flatMap(({ identity }) => identity ?? [])));
      const created: Created[] = [];
      const paths: string[] = [];
      for (const one of wanted) {
        const identity = (await make(one)) ?? (await identityOf(one.path));
        if (identity !== undefined) paths.push(one.path);
        const isOurs = identity !== undefined && (identity.isNew || known.has(identity.text));
        if (isOurs) created.push({ ...one, identity: identity.text });
      }
      // Replaced as a whole, because other processes read it.
      await writeFile(`${own}.tmp`, JSON.stringify(created), { mode: 0o600 });
      await rename(`${own}.tmp`, own);
      return { paths, [Symbol.asyncDispose]: () => this.#release(key, base, created) };
    } catch (error) {
      await this.#release(key, base, []);
      throw error;
    }
  }

  /** Removes the placeholders of processes that were killed. */
  async sweep(): Promise<void> {
    const names = await readdir(this.#folder).catch(() => []);
    const keys = new Set(names.flatMap((name) => nameParts.exec(name)?.[1] ?? []));
    for (const key of keys) {
      const claims = await this.#claims(key, "");
      if (!claims.some(({ isInUse, isEnding }) => isInUse || isEnding)) await this.#removeAll(claims);
    }
  }

  /** Removes the placeholders, unless another command needs them: then it removes them. */
  async #release(key: string, base: string, created: readonly Created[]): Promise<void> {
    const [ending, left] = [join(this.#folder, `${base}.ending`), join(this.#folder, `${base}.left`)];
    let claim = join(this.#folder, `${base}.claim`);
    do {
      // A command that begins now waits until this file is gone; one that began before is seen in the list.
      if (!(await renamed(claim, ending))) return;
      const others = await this.#claims(key, base);
      if (!isNeeded(others)) {
        await removeEach(created, 0n);
        await this.#removeAll(others.filter(({ isEnding }) => !isEnding));
        return await rm(ending, { force: true });
      }
      await rename(ending, left);
      claim = left;
      // The other command may have ended before it could see this file.
    } while (!isNeeded(await this.#claims(key, base)));
  }

  async #removeAll(claims: readonly Claim[]): Promise<void> {
    for (const { name, created, since } of claims) {
      await removeEach(created, since);
      await rm(join(this.#folder, name), { force: true });
    }
  }

  /** The claims of other commands, once none of them is being released. */
  async #settledClaims(key: string, base: string): Promise<Claim[]> {
    for (let waits = 0; waits < maxWaits; waits += 1) {
      const claims = await this.#claims(key, base);
      if (!claims.some(({ isEnding }) => isEnding)) return claims;
      await sleep(waitMs);
    }
    throw new Error(`another process does not finish removing its files; they are listed in ${this.#folder}`);
  }

  async #claims(key: string, base: string): Promise<Claim[]> {
    const names = await readdir(this.#folder);
    const claims = names
      .filter((name) => name.startsWith(`${key}.`) && (base === "" || !name.startsWith(base)))
      .map(async (name): Promise<Claim | undefined> => {
        const [, , pid = "", startTime = "", state] = nameParts.exec(name) ?? [];
        if (state === undefined) return undefined;
        const path = join(this.#folder, name);
        const text = await readFile(path, "utf8").catch(() => undefined);
        const stats = await identityOf(path);
        if (text === undefined || stats === undefined) return undefined;
        const isRunning = state !== "left" && (await processState(Number(pid), startTime)) !== "gone";
        const isEnding = isRunning && state === "ending";
        return { name, created: createdIn(text), since: stats.born, isInUse: isRunning && !isEnding, isEnding };
      });
    return (await Promise.all(claims)).filter((claim) => claim !== undefined);
  }
}

function isNeeded(others: readonly Claim[]): boolean {
  return others.some(({ isInUse }) => isInUse);
}

/** False if another command has removed the file with all that it names. */
async function renamed(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if (systemCode(error) === "ENOENT") return false;
    throw error;
  }
}

function keyOf(workspace: string): string {
  return createHash("sha256").update(workspace).digest("hex").slice(0, 16);
}

/** A file that was cut off by a crash names nothing. */
function createdIn(text: string): Created[] {
  try {
    return JSON.parse(text) as Created[];
  } catch {
    return [];
  }
}

interface Identity {
  readonly text: string;
  readonly born: bigint;
  readonly isNew: boolean;
}

/** The user has no right to create anything there, and a command has fewer rights. */
const noRight: ReadonlySet<string | undefined> = new Set(["EACCES", "EPERM", "EROFS"]);

/** Creates a placeholder; undefined if there is something already, or if the user cannot create anything there. */
async function make({ path, text }: Placeholder): Promise<Identity | undefined> {
  try {
    if (text === undefined) await mkdir(path, { mode: 0o755 });
    else await writeFile(path, text, { flag: "wx", mode: 0o644 });
  } catch (error) {
    const code = systemCode(error);
    if (code === "EEXIST" || noRight.has(code)) return undefined;
    throw error;
  }
  const identity = await identityOf(path);
  return identity && { ...identity, isNew: true };
}

async function identityOf(path: string): Promise<Identity | undefined> {
  const stats = await lstat(path, { bigint: true }).catch(() => undefined);
  if (stats === undefined) return undefined;
  const { dev, ino, birthtimeNs: born } = stats;
  return { text: `${dev}:${ino}:${born}`, born, isNew: false };
}

/** Removes the placeholders that are still what was created; a folder only if it is empty. */
async function removeEach(created: readonly Created[], since: bigint): Promise<void> {
  for (const { path, text, identity } of created.toReversed()) {
    const found = await identityOf(path);
    const isOurs = found !== undefined && (identity === undefined ? found.born >= since : found.text === identity);
    if (!isOurs) continue;
    // The user may put something into it in the meantime: then it stays.
    if (text === undefined) await rmdir(path).catch(() => undefined);
    else if ((await readFile(path, "utf8").catch(() => undefined)) === text) await unlink(path).catch(() => undefined);
  }
}
