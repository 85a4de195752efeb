import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import * as nodeModule from "node:module";
import { basename, dirname, isAbsolute, join, sep } from "node:path";
import * as vm from "node:vm";

/** Missing in Node 20. */
const { enableCompileCache } = nodeModule as { readonly enableCompileCache?: (directory: string) => unknown };

/** V8 drops the compiled code of functions that are no longer called, so a long session saves before it ends. */
const saveAfterMs = 5_000;

const headerBytes = 32;

/** The parameters that Node passes to a CommonJS module. */
const wrapper = ["(function (exports, require, module, __filename, __dirname) { ", "\n})"] as const;

/**
 * Keeps compiled code between two starts, in a `cody` folder of this user's cache folder. Anybody who can write there
 * could make us run any code, so the folders must belong to this user and be writable by nobody else. `chunks` is the
 * folder of our own code, all that is cached in Node 20; newer versions cache every module.
 */
export function cacheCompiledCode(env: NodeJS.ProcessEnv, chunks: string): void {
  const { XDG_CACHE_HOME, HOME, NODE_COMPILE_CACHE, NODE_DISABLE_COMPILE_CACHE } = env;
  if (NODE_COMPILE_CACHE || NODE_DISABLE_COMPILE_CACHE) return;
  try {
    const caches = XDG_CACHE_HOME || `${HOME}/.cache`;
    if (!isAbsolute(caches) || !(existsSync(caches) || isOurs(dirname(caches)))) return;
    const directory = join(caches, "cody");
    if (!isOurFolder(caches) || !isOurFolder(directory)) return;
    if (enableCompileCache === undefined) new CompileCache(chunks, directory).install();
    else enableCompileCache(directory);
  } catch {
    // The cache is optional: everything works without it, only slower.
  }
}

/** Creates the folder if necessary. */
function isOurFolder(path: string): boolean {
  mkdirSync(path, { mode: 0o700, recursive: true });
  return isOurs(path);
}

function isOurs(path: string): boolean {
  const stats = lstatSync(path);
  return stats.isDirectory() && stats.uid === process.getuid?.() && (stats.mode & 0o022) === 0;
}

/** The function with which chunks import modules; the bundler uses the same name. */
const importer = Symbol.for("cody.importModule");

/** The method of Node's module loader that compiles and runs a file. */
const compileMethod = "_compile";

type Compile = (this: NodeJS.Module, source: string, filename: string) => unknown;

interface Loaded {
  readonly script: vm.Script;
  readonly source: string;
  readonly name: string;
}

/**
 * A cache like that of Node 22: each chunk has a file with V8's data for it, which includes the functions that were
 * compiled when they were first called. V8 itself rejects data of another version or other options; it compares only
 * the length of the source and does not notice damage, for which the header has checksums.
 */
class CompileCache {
  readonly #chunks: string;
  readonly #directory: string;
  readonly #crc32 = process.getBuiltinModule("node:zlib").crc32;
  readonly #loaded: Loaded[] = [];
  #isComplete = true;

  constructor(chunks: string, parent: string) {
    this.#chunks = chunks;
    // Installations and versions of Node may have chunks of the same name.
    this.#directory = join(parent, `${process.version}-${process.arch}-${this.#crc32(chunks).toString(16)}`);
  }

  install(): void {
    if (!isOurFolder(this.#directory)) return;
    // The bundler replaces the chunks' own imports, which fail in code from the cache.
    Object.assign(globalThis, { [importer]: async (name: string): Promise<unknown> => await import(name) });
    const loader = nodeModule.Module.prototype as unknown as Record<typeof compileMethod, Compile>;
    const compileUncached = loader[compileMethod];
    const prefix = this.#chunks + sep;
    const runCached = (module: NodeJS.Module, source: string, filename: string): void =>
      this.#run(module, source, filename);
    loader[compileMethod] = function (source, filename) {
      if (!filename.startsWith(prefix)) return compileUncached.call(this, source, filename);
      return runCached(this, source, filename);
    };
    setTimeout(() => this.#save(), saveAfterMs).unref();
    process.once("exit", () => this.#save());
  }

  #run(module: NodeJS.Module, source: string, filename: string): void {
    const name = basename(filename);
    const cachedData = this.#read(name, source);
    const script = new vm.Script(wrapper.join(source), {
      filename,
      columnOffset: -wrapper[0].length,
      cachedData,
    });
    if (cachedData === undefined || script.cachedDataRejected === true) this.#isComplete = false;
    this.#loaded.push({ script, source, name });
    const run = script.runInThisContext() as (...args: unknown[]) => void;
    const { exports } = module;
    run.call(exports, exports, nodeModule.createRequire(filename), module, filename, dirname(filename));
  }

  #read(name: string, source: string): Buffer | undefined {
    let contents: Buffer;
    try {
      contents = readFileSync(join(this.#directory, name));
    } catch {
      return undefined;
    }
    const data = contents.subarray(headerBytes);
    return this.#header(source, data).equals(contents.subarray(0, headerBytes)) ? data : undefined;
  }

  #header(source: string, data: Buffer): Buffer {
    const sums = [source, data].map((part) => this.#crc32(part).toString(16).padStart(8, "0"));
    return Buffer.from(sums.join(" ").padEnd(headerBytes));
  }

  /**
   * Saves all chunks if one was missing, also those that came from the cache: another command has compiled more of
   * their functions.
   */
  #save(): void {
    if (this.#isComplete) return;
    this.#isComplete = true;
    try {
      for (const { script, source, name } of this.#loaded) {
        const data = script.createCachedData();
        replaceFile(join(this.#directory, name), [this.#header(source, data), data]);
      }
      for (const name of readdirSync(this.#directory)) {
        if (!existsSync(join(this.#chunks, name))) rmSync(join(this.#directory, name), { force: true });
      }
    } catch {
      // A full or read-only disk: the next start compiles again.
    }
  }
}

/** Replaces the file atomically, because other processes may be starting from it. */
function replaceFile(path: string, parts: readonly Buffer[]): void {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    writeFileSync(temporary, Buffer.concat(parts), { mode: 0o600 });
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}
