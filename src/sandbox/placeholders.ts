import { createHash, randomUUID } from "node:crypto";
import { appendFile, lstat, mkdir, readdir, readFile, rename, rm, rmdir, unlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
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

/** A claim of another command. */
interface Claim {
  readonly name: string;
  /**
   * `running`: its command needs its placeholders. `ending`: the command removes placeholders just now. `over`: nobody
   * needs them for this command any more.
   */
  readonly state: "running" | "ending" | "over";
  readonly created: readonly Created[];
  /** A path that is older than the claim is not a placeholder. */
  readonly since: bigint;
}

const waitMs = 2;

/** Removing placeholders takes milliseconds, but a process may be stopped meanwhile. */
const maxWaits = 5_000;

const nameParts = /^([0-9a-f]{16})\.(\d+)\.(\d*)\.[0-9a-f-]+\.(claim|ending|left)$/;

let ownStartTime: Promise<string> | undefined;

/**
 * The placeholders of commands, which several commands and processes may need at the same time. For each folder in which
 * it needs some, a command writes a claim before it creates any, and the last command removes them. Claims of processes
 * that were killed are found by the next command there, and by `sweep`.
 *
 * A claim is a file whose name ends with its state: `claim` while the command runs, `ending` while it removes
 * placeholders, `left` if it has ended before another command that also needs them. Why every order of events is right,
 * relying only on this: reading a directory finds the names that exist all the time while it is read.
 *
 * - Nothing is removed that a command needs. A command that removes has the state `ending` before it looks for others,
 *   and removes nothing if one has the state `claim`. A command that creates has the state `claim` before it looks for
 *   others, and waits for those that are `ending`. So at least one of two sees the other.
 * - Nothing is left. A command exits with the state `left` only if it has seen, in this state, a command that still
 *   runs; that one looks for others later, so that it finds the name. Either it is the last and removes everything, or
 *   the same holds for it and a command that ends later still.
 */
export class Placeholders {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Creates placeholders for a command, except where there is something by now. */
  async create(wanted: readonly Placeholder[]): Promise<HeldPlaceholders> {
    const folders = [...new Set(wanted.map(({ path }) => dirname(path)))];
    const results = await Promise.allSettled(
      folders.map((folder) =>
        this.#createIn(
          folder,
          wanted.filter(({ path }) => dirname(path) === folder),
        ),
      ),
    );
    const held = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
    const release = async (): Promise<void> => {
      await Promise.all(held.map((each) => each[Symbol.asyncDispose]()));
    };
    const failed = results.find((result) => result.status === "rejected");
    if (failed === undefined) return { paths: held.flatMap(({ paths }) => paths), [Symbol.asyncDispose]: release };
    await release();
    throw failed.reason;
  }

  /** Removes the placeholders of processes that were killed. */
  async sweep(): Promise<void> {
    const names = await readdir(this.#folder).catch(() => []);
    const keys = new Set(names.flatMap((name) => nameParts.exec(name)?.[1] ?? []));
    for (const key of keys) {
      const claims = await this.#claims(key, undefined);
      const isLeft = claims.some(({ state }) => state === "over") && !isNeeded(claims);
      if (isLeft) await this.#release(key, await this.#newName(key), []);
    }
  }

  async #createIn(folder: string, wanted: readonly Placeholder[]): Promise<HeldPlaceholders> {
    await makeDirectory(this.#folder);
    const key = createHash("sha256").update(folder).digest("hex").slice(0, 16);
    const name = await this.#newName(key);
    const created: Created[] = [];
    const paths: string[] = [];
    try {
      const claim = this.#path(name, "claim");
      await writeFile(claim, lineOf(wanted), { mode: 0o600, flag: "wx" });
      const others = await this.#settledClaims(key, name);
      const known = new Set(others.flatMap(identitiesOf));
      for (const one of wanted) {
        const identity = (await make(one)) ?? (await identityOf(one.path));
        if (identity !== undefined) paths.push(one.path);
        const isOurs = identity !== undefined && (identity.isNew || known.has(identity.text));
        if (isOurs) created.push({ ...one, identity: identity.text });
      }
      // Added and not replaced, because a name that is replaced may be missing while others read the directory.
      await appendFile(claim, lineOf(created));
    } catch (error) {
      await this.#release(key, name, created);
      throw error;
    }
    return { paths, [Symbol.asyncDispose]: () => this.#release(key, name, created) };
  }

  /** Removes the placeholders, unless another command needs them: then that command removes them. */
  async #release(key: string, name: string, created: readonly Created[]): Promise<void> {
    const [ending, left] = [this.#path(name, "ending"), this.#path(name, "left")];
    let current = this.#path(name, "claim");
    try {
      do {
        // Without the file, another command has removed all that it names, but not what was left since then.
        if (!(await renamed(current, ending))) await writeFile(ending, lineOf([]), { mode: 0o600 });
        current = ending;
        const others = await this.#claims(key, name);
        const running = others.filter(({ state }) => state === "running");
        const known = new Set(running.flatMap(identitiesOf));
        if (running.length === 0) {
          await removeEach(created, 0n);
          await this.#removeAll(others.filter(({ state }) => state === "over"));
        }
        if (running.length === 0 || created.every(({ identity = "" }) => known.has(identity))) {
          return await rm(ending, { force: true });
        }
        await rename(ending, left);
        current = left;
        // The other command may have ended before it could see this file.
      } while (!isNeeded(await this.#claims(key, name)));
    } catch {
      // The command is over and its result counts, so the rest is left to the next command, which must not wait.
      for (const from of [current, ending]) await rename(from, left).catch(() => undefined);
    }
  }

  async #removeAll(claims: readonly Claim[]): Promise<void> {
    for (const { name, created, since } of claims) {
      await removeEach(created, since);
      await rm(join(this.#folder, name), { force: true });
    }
  }

  /** The claims of other commands, once those have ended that may not know of this one. */
  async #settledClaims(key: string, name: string): Promise<Claim[]> {
    let claims = await this.#claims(key, name);
    const awaited = new Set(claims.flatMap((claim) => (claim.state === "ending" ? [claim.name] : [])));
    for (let waits = 0; claims.some((claim) => awaited.has(claim.name) && claim.state === "ending"); waits += 1) {
      if (waits >= maxWaits) {
        throw new Error(`another process does not finish removing its files; they are listed in ${this.#folder}`);
      }
      await sleep(waitMs);
      claims = await this.#claims(key, name);
    }
    return claims;
  }

  async #claims(key: string, own: string | undefined): Promise<Claim[]> {
    const names = await readdir(this.#folder);
    const others = names.filter((name) => name.startsWith(`${key}.`) && !(own && name.startsWith(own)));
    return (await Promise.all(others.map((name) => this.#read(name)))).filter((claim) => claim !== undefined);
  }

  /** Undefined if the file has another name by now. */
  async #read(name: string): Promise<Claim | undefined> {
    const [, , pid = "", startTime = "", stage] = nameParts.exec(name) ?? [];
    if (stage === undefined) return undefined;
    const path = join(this.#folder, name);
    const text = await unlessMissing(readFile(path, "utf8"));
    const stats = await unlessMissing(lstat(path, { bigint: true }));
    if (text === undefined || stats === undefined) return undefined;
    const isAlive = stage !== "left" && (await processState(Number(pid), startTime)) !== "gone";
    const state = !isAlive ? "over" : stage === "ending" ? "ending" : "running";
    return { name, state, created: createdIn(text), since: stats.birthtimeNs };
  }

  async #newName(key: string): Promise<string> {
    const startTime = await (ownStartTime ??= processStartTime(process.pid));
    return `${key}.${process.pid}.${startTime}.${randomUUID()}`;
  }

  #path(name: string, stage: "claim" | "ending" | "left"): string {
    return join(this.#folder, `${name}.${stage}`);
  }
}

function isNeeded(claims: readonly Claim[]): boolean {
  return claims.some(({ state }) => state === "running");
}

function identitiesOf({ created }: Claim): string[] {
  return created.flatMap(({ identity }) => identity ?? []);
}

/** False if there is no such file. */
async function renamed(from: string, to: string): Promise<boolean> {
  return (await unlessMissing(rename(from, to).then(() => true))) ?? false;
}

/** Undefined if the file does not exist. Every other error counts, because a file that cannot be read may be needed. */
async function unlessMissing<T>(result: Promise<T>): Promise<T | undefined> {
  try {
    return await result;
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

function lineOf(placeholders: readonly Created[]): string {
  return `${JSON.stringify(placeholders)}\n`;
}

/** The second line has what was created; without it, a command was killed while it created what the first one has. */
function createdIn(text: string): readonly Created[] {
  const [wanted = "", created = ""] = text.split("\n");
  return parsed(created) ?? parsed(wanted) ?? [];
}

/** Undefined for a line that was cut off by a crash. */
function parsed(line: string): readonly Created[] | undefined {
  try {
    return JSON.parse(line) as Created[];
  } catch {
    return undefined;
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
    // Nobody writes into it, and so the empty `.git` of a command is not taken for a repository.
    if (text === undefined) await mkdir(path, { mode: 0o555 });
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
