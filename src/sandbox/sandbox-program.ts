import { spawn } from "node:child_process";
import { constants } from "node:fs";
import { access, readFile, realpath, stat } from "node:fs/promises";
import { arch, platform } from "node:process";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { visible } from "../base/text/visible.js";
import { filterDescriptor, type SandboxStatus } from "../tools/exec/command-sandbox.js";
import { guardDescriptor } from "../tools/exec/command-process.js";
import { bwrapArguments } from "./bwrap-arguments.js";
import { hasFilter, systemCallFilter } from "./system-call-filter.js";

/** The program that creates sandboxes. */
const programName = "bwrap";

const probeMs = 5_000;

const maxMessageBytes = 4_096;

/** A program that has created a sandbox on this machine. */
export interface SandboxProgram {
  readonly path: string;
  /** False in containers that do not permit mounting /proc. */
  readonly mountsProc: boolean;
}

/** The result of a probe, with the program if it works. */
type ProbeResult =
  | { readonly status: SandboxStatus & { works: true }; readonly program: SandboxProgram }
  | { readonly status: SandboxStatus & { works: false }; readonly program?: undefined };

/** Finds the program and checks once whether it can create a sandbox. */
export class SandboxProbe {
  readonly #path: string;
  readonly #results = new Map<string, Promise<ProbeResult>>();

  /** `path` is the value of the variable PATH. */
  constructor(path: string | undefined) {
    this.#path = path ?? "";
  }

  /** A program inside one of these folders, which are real paths, is not used: a command could have put it there. */
  async result(writableFolders: readonly string[]): Promise<ProbeResult> {
    if (platform !== "linux") return failed(`there is no sandbox for ${platform}: it needs Linux`);
    if (!hasFilter(arch)) return failed(`there is no sandbox for ${arch} processors`);
    const found = await this.#find(writableFolders);
    if (found === undefined) {
      return failed(
        `${programName} is not on PATH. Install bubblewrap: apt install bubblewrap, dnf install bubblewrap`,
      );
    }
    let result = this.#results.get(found);
    if (result === undefined) this.#results.set(found, (result = probe(found)));
    return await result;
  }

  async #find(writableFolders: readonly string[]): Promise<string | undefined> {
    // A relative folder would depend on where cody was started.
    for (const folder of this.#path.split(":").filter((name) => name.startsWith("/"))) {
      const path = await executable(join(folder, programName));
      if (path !== undefined && !writableFolders.some((writable) => path.startsWith(`${writable}/`))) return path;
    }
    return undefined;
  }
}

/** The real path of a program; undefined if there is none. */
async function executable(path: string): Promise<string | undefined> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile() ? await realpath(path) : undefined;
  } catch {
    return undefined;
  }
}

async function probe(path: string): Promise<ProbeResult> {
  const whole = await run(path, true);
  if (whole === undefined) return working(path, true);
  // Containers often permit namespaces, but not a /proc of one's own.
  if ((await run(path, false)) === undefined) return working(path, false);
  return failed(`${path} cannot create a sandbox: ${visible(whole)}${await hint()}`);
}

function working(path: string, mountsProc: boolean): ProbeResult {
  const limits = mountsProc ? "" : ", with the /proc of this container";
  return { status: { works: true, detail: `bubblewrap ${path}${limits}` }, program: { path, mountsProc } };
}

function failed(reason: string): ProbeResult {
  return { status: { works: false, reason } };
}

/** Creates a sandbox with every namespace and the filter; returns the problem, if there is one. */
async function run(path: string, mountsProc: boolean): Promise<string | undefined> {
  const unused = { empty: "/dev/null", unreadable: "/dev/null" };
  const mounts = [{ kind: "empty-folder", path: await realpath("/tmp") }] as const;
  const args = bwrapArguments({ mounts, network: "off", files: unused, mountsProc, cwd: "/" });
  const child = spawn(path, [...args, "/bin/sh", "-c", ":"], {
    cwd: "/",
    env: { PATH: "/usr/bin:/bin", LC_ALL: "C" },
    // The last one is for the report, which is not read.
    stdio: ["ignore", "ignore", "pipe", "pipe", "pipe", "pipe"],
    timeout: probeMs,
    killSignal: "SIGKILL",
  });
  let message = "";
  child.stderr?.on("data", (bytes: Buffer) => {
    if (message.length < maxMessageBytes) message += bytes.toString();
  });
  for (const pipe of child.stdio.slice(guardDescriptor)) (pipe as Duplex).on("error", () => undefined).resume();
  (child.stdio[filterDescriptor] as Duplex).end(systemCallFilter({ architecture: arch, unixSockets: "off" }));
  return await new Promise((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("close", (code, signal) => {
      if (code === 0) return resolve(undefined);
      const [line = ""] = message.split("\n");
      resolve(
        line.replace(/^bwrap: /, "") || (signal === null ? `it exited with code ${code}` : `it ended by ${signal}`),
      );
    });
  });
}

/** Settings of the kernel that forbid sandboxes, and how to change them. */
const obstacles = [
  {
    file: "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
    forbids: "1",
    hint: "AppArmor forbids it: add a profile for bwrap, or set kernel.apparmor_restrict_unprivileged_userns=0",
  },
  {
    file: "/proc/sys/kernel/unprivileged_userns_clone",
    forbids: "0",
    hint: "the kernel forbids it: set kernel.unprivileged_userns_clone=1",
  },
  {
    file: "/proc/sys/user/max_user_namespaces",
    forbids: "0",
    hint: "the kernel forbids it: set user.max_user_namespaces to more than 0",
  },
];

async function hint(): Promise<string> {
  for (const { file, forbids, hint: text } of obstacles) {
    const value = await readFile(file, "latin1").catch(() => "");
    if (value.trim() === forbids) return ` (${text})`;
  }
  return "";
}
