import { randomUUID } from "node:crypto";
import { realpath, rename, stat, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { arch } from "node:process";
import { isInside } from "../base/fs/path-checks.js";
import { makeDirectory } from "../base/fs/make-directory.js";
import { homePaths, type Homes } from "../config/paths.js";
import { effectiveGroup } from "../config/settings/effective-settings.js";
import type { Config } from "../messages/settings/config.js";
import type { SandboxMode } from "../messages/tools/policy.js";
import { linksTo } from "../tools/policy/linked-files.js";
import { secretPaths } from "../tools/policy/secret-files.js";
import type { CommandSandbox, SandboxedCommand, SandboxSpec, SandboxStatus } from "../tools/exec/command-sandbox.js";
import { bwrapArguments, type Mount } from "./bwrap-arguments.js";
import { deniedNotes } from "./denied-notes.js";
import { findHidden, findSecretFiles } from "./hidden-paths.js";
import { Placeholders } from "./placeholders.js";
import { findProtection, restoreLinks } from "./protected-paths.js";
import { type SandboxProgram, SandboxProbe } from "./sandbox-program.js";
import { systemCallFilter } from "./system-call-filter.js";
import { TemporaryFolders } from "./temporary-folders.js";

interface SandboxesInput {
  readonly homes: Homes;
  readonly config: Config;
  /** The environment that contains PATH, HOME and the folder for sockets. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The folder and the access of a turn, and the conversation it belongs to. */
export interface SandboxRequest {
  readonly conversationId: string;
  readonly cwd: string;
  readonly sandbox: SandboxMode;
}

interface DescribedSandbox {
  readonly status: SandboxStatus;
  /** Undefined if none works. */
  readonly spec: SandboxSpec | undefined;
}

/** The sandbox of a turn, or the reason why there is none. */
export type OpenedSandbox =
  | { readonly status: SandboxStatus & { works: true }; readonly sandbox: CommandSandbox }
  | { readonly status: SandboxStatus & { works: false }; readonly sandbox?: undefined };

/** Folders that must not be writable as a whole, because programs outside of the sandbox depend on them. */
const systemFolders: ReadonlySet<string> = new Set("/ /dev /proc /sys /run /etc /usr /var /boot".split(" "));

/** Folders in which programs outside of the sandbox have their sockets. */
const sharedFolders: ReadonlySet<string> = new Set(["/tmp", "/var/tmp"]);

/** Creates the sandboxes for the commands of conversations. One for each thread. */
export class Sandboxes {
  readonly #input: SandboxesInput;
  readonly #probe: SandboxProbe;
  /** One list for all turns, because its hard links are searched once. */
  readonly #secrets: readonly string[];
  readonly #records: string;
  readonly #placeholders: Placeholders;
  readonly #temporary: TemporaryFolders;
  #swept: Promise<unknown> | undefined;

  constructor(input: SandboxesInput) {
    this.#input = input;
    this.#probe = new SandboxProbe(input.env["PATH"]);
    this.#secrets = secretPaths(this.#home);
    this.#records = homePaths(input.homes.home).sandbox;
    this.#placeholders = new Placeholders(this.#records);
    this.#temporary = new TemporaryFolders(input.env["TMPDIR"] ?? "/tmp", this.#records);
  }

  /** Whether commands in a folder can be confined, and with which rights; creates nothing. */
  async describe({ cwd, sandbox }: Omit<SandboxRequest, "conversationId">): Promise<DescribedSandbox> {
    const { status, spec } = await this.#find(cwd, sandbox === "danger-full-access" ? "workspace-write" : sandbox);
    return { status, spec };
  }

  /** The sandbox of a turn; without one if the turn has full access, or if none works. */
  async open({ conversationId, cwd, sandbox: mode }: SandboxRequest): Promise<OpenedSandbox> {
    if (mode === "danger-full-access") {
      return { status: { works: false, reason: "the sandbox mode is danger-full-access" } };
    }
    const found = await this.#find(cwd, mode);
    if (found.program === undefined) return { status: found.status };
    const { status, spec, program } = found;
    await this.sweep();
    const mounts = await this.#mounts(spec, await this.#temporary.of(conversationId));
    const sandbox = { spec, enter: (command: EnterRequest) => this.#enter(command, { spec, program, mounts }) };
    return { status, sandbox };
  }

  /** Removes what killed processes have left in workspaces and temporary folders; once. */
  async sweep(): Promise<void> {
    // A placeholder that cannot be removed now does not keep a command from running.
    await (this.#swept ??= Promise.allSettled([this.#placeholders.sweep(), this.#temporary.sweep()]));
  }

  /** Removes the temporary folders; no command may be running any more. */
  async close(): Promise<void> {
    await this.#temporary.removeAll();
  }

  async #find(cwd: string, mode: SandboxSpec["mode"]): Promise<Found> {
    const workspace = await realpath(cwd).catch(() => undefined);
    if (workspace === undefined) return notWorking(`the working folder ${cwd} does not exist`);
    if (systemFolders.has(workspace)) return notWorking(`the working folder is ${workspace}`);
    const settings = effectiveGroup(this.#input.config, "sandbox");
    const roots = mode === "read-only" ? [] : await this.#realRoots(settings.writableRoots ?? []);
    const shared = [workspace, ...roots].find((folder) => sharedFolders.has(folder));
    if (shared !== undefined && settings.unixSockets === "workspace") {
      return notWorking(`sandbox.unixSockets is workspace, and ${shared} has the sockets of other programs`);
    }
    const spec: SandboxSpec = {
      mode,
      workspace,
      writableRoots: roots,
      network: settings.network,
      unixSockets: settings.unixSockets,
    };
    const { status, program } = await this.#probe.result([workspace, ...roots]);
    if (program === undefined) return { status };
    return { status: { works: true, detail: status.detail + (await ownerWarning(workspace)) }, spec, program };
  }

  /** A root that does not exist, or that is a folder of the system, is left out. */
  async #realRoots(roots: readonly string[]): Promise<string[]> {
    const expanded = roots.map((root) => (root.startsWith("~/") ? join(this.#home, root.slice(2)) : root));
    const real = await Promise.all(expanded.map((root) => realpath(root).catch(() => "/")));
    return [...new Set(real)].filter((root) => !systemFolders.has(root));
  }

  /** The mounts that are the same for every command of a turn. */
  async #mounts(spec: SandboxSpec, temporary: string): Promise<Mount[]> {
    const { homes, env, config } = this.#input;
    const { home, codexHome, claudeHome } = homes;
    const writable = [spec.workspace, ...spec.writableRoots];
    const { directory } = config.persistence ?? {};
    const socketFolders = ["/run", env["XDG_RUNTIME_DIR"]];
    const hidden = await findHidden([
      ...this.#secrets,
      home,
      codexHome,
      claudeHome,
      directory && resolve(home, directory),
      ...socketFolders,
    ]);
    // A hard link in the workspace is the secret itself.
    const linked = await Promise.all(writable.map((folder) => linksTo(folder, this.#secrets)));
    const temporaryPlaces = await existing(["/tmp", "/var/tmp"]);
    const covered = [...temporaryPlaces, ...(await existing(socketFolders))];
    // Programs and the addresses of name servers stay visible in folders that are otherwise hidden.
    const needed = await existing([
      ...(env["PATH"] ?? "").split(":").filter((path) => path.startsWith("/")),
      "/etc/resolv.conf",
    ]);
    return [
      ...temporaryPlaces.map((path): Mount => ({ kind: "writable", path, from: temporary })),
      ...needed
        .filter((path) => covered.some((folder) => isInside(folder, path)))
        .map((path): Mount => ({ kind: "read-only", path })),
      ...hidden,
      ...writable.map((path): Mount => ({ kind: spec.mode === "read-only" ? "read-only" : "writable", path })),
      ...(await Promise.all(writable.map(findSecretFiles))).flat(),
      ...linked.flat().map((path): Mount => ({ kind: "empty-file", path })),
    ];
  }

  async #enter({ argv, cwd }: EnterRequest, { spec, program, mounts }: TurnSandbox): Promise<SandboxedCommand> {
    const { mode, workspace, writableRoots, network, unixSockets } = spec;
    const protection =
      mode === "read-only"
        ? undefined
        : await findProtection([workspace, ...writableRoots], await realHome(this.#home));
    const { mounts: own = [], absent = [], links = [] } = protection ?? {};
    const files = {
      empty: await this.#recordFile("empty", 0o400),
      unreadable: await this.#recordFile("unreadable", 0),
    };
    const realCwd = await realpath(cwd);
    const present = await withoutMissing(mounts, [workspace, ...writableRoots]);
    // Nothing fails from here on, so that the placeholders are always removed.
    const placeholders = await this.#placeholders.create(absent);
    const masked = placeholders.paths.map((path): Mount => ({ kind: "read-only", path }));
    const args = bwrapArguments({
      mounts: [...present, ...own, ...masked],
      network,
      files,
      mountsProc: program.mountsProc,
      cwd: realCwd,
    });
    const hidden = mounts.flatMap(({ kind, path }) =>
      kind === "empty-file" || kind === "unreadable-file" ? [path] : [],
    );
    return {
      argv: [program.path, ...args, ...throughShell, ...argv],
      env: { TMPDIR: "/tmp", TEMP: "/tmp", TMP: "/tmp" },
      filter: systemCallFilter({ architecture: arch, unixSockets }),
      notes: (output) => deniedNotes({ spec, output, hidden }),
      [Symbol.asyncDispose]: async () => {
        await using _ = placeholders;
        await restoreLinks(links);
      },
    };
  }

  /** A file without content, to be shown instead of others. */
  async #recordFile(name: string, mode: number): Promise<string> {
    await makeDirectory(this.#records);
    const path = join(this.#records, name);
    const stats = await stat(path).catch(() => undefined);
    if (stats?.size === 0 && (stats.mode & 0o777) === mode) return path;
    const temporary = `${path}.${randomUUID()}`;
    await writeFile(temporary, "", { mode, flag: "wx" });
    await rename(temporary, path);
    return path;
  }

  get #home(): string {
    return this.#input.env["HOME"] || homedir();
  }
}

/** A shell reports a program that does not exist, or that is not one, by the exit codes 127 and 126. */
const throughShell = ["/bin/sh", "-c", 'exec "$@"', "sh"];

type EnterRequest = Parameters<CommandSandbox["enter"]>[0];

interface TurnSandbox {
  readonly spec: SandboxSpec;
  readonly program: SandboxProgram;
  readonly mounts: readonly Mount[];
}

type Found =
  | { readonly status: SandboxStatus & { works: true }; readonly spec: SandboxSpec; readonly program: SandboxProgram }
  | { readonly status: SandboxStatus & { works: false }; readonly spec?: undefined; readonly program?: undefined };

function notWorking(reason: string): Found {
  return { status: { works: false, reason } };
}

/** Without capabilities, root has no more rights in a folder of somebody else than any other user. */
async function ownerWarning(workspace: string): Promise<string> {
  const { uid } = await stat(workspace);
  if (process.getuid?.() !== 0 || uid === 0) return "";
  return `; the working folder belongs to user ${uid}, so commands that run as root cannot write to it`;
}

async function realHome(home: string): Promise<string> {
  return await realpath(home).catch(() => home);
}

/** Files in writable folders may be deleted during a turn; bubblewrap would create them again, to mount on. */
async function withoutMissing(mounts: readonly Mount[], writable: readonly string[]): Promise<Mount[]> {
  const checked = mounts.map(async (mount) => {
    const mayBeMissing = writable.some((folder) => mount.path !== folder && isInside(folder, mount.path));
    return mayBeMissing && (await existing([mount.path])).length === 0 ? [] : [mount];
  });
  return (await Promise.all(checked)).flat();
}

/** The real paths of those that exist. */
async function existing(paths: readonly (string | undefined)[]): Promise<string[]> {
  const given = paths.filter((path) => path !== undefined);
  const found = await Promise.all(given.map((path) => realpath(path).catch(() => undefined)));
  return [...new Set(found.filter((path) => path !== undefined))];
}
