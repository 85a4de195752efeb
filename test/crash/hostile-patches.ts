import { outsideName, type HostileWorld } from "./hostile-world.js";
import type { Random } from "./random.js";

/** A call of an editing tool. */
export interface HostileCall {
  readonly tool: "apply_patch" | "write_file";
  readonly args: object;
}

export class HostilePatches {
  readonly #random: Random;
  readonly #paths: readonly string[];
  #count = 0;

  constructor(world: HostileWorld, random: Random) {
    this.#random = random;
    this.#paths = hostilePaths(world);
  }

  next(): HostileCall {
    this.#count += 1;
    if (this.#random.next() < 0.15) return { tool: "write_file", args: { path: this.#path(), content: this.#line() } };
    const parts = Array.from({ length: this.#random.whole(1, 3) }, () => this.#part());
    return { tool: "apply_patch", args: { input: `*** Begin Patch\n${parts.join("\n")}\n*** End Patch` } };
  }

  #part(): string {
    const path = this.#path();
    const parts = [
      () => `*** Add File: ${path}\n+${this.#line()}`,
      () => `*** Delete File: ${path}`,
      () => `*** Update File: ${path}\n${this.#chunk()}`,
      () => `*** Update File: ${path}\n*** Move to: ${this.#path()}\n${this.#chunk()}`,
      () => `*** Update File: ${path}\n*** Move to: ${this.#path()}`,
    ];
    return this.#random.pick(parts)?.() ?? "";
  }

  /** A chunk that only adds lines fits any file. */
  #chunk(): string {
    return this.#random.next() < 0.5 ? `@@\n+${this.#line()}` : ` first\n-line\n+line\n+${this.#line()}`;
  }

  #line(): string {
    return `changed ${this.#count}`;
  }

  /** Every other path can be edited, or could be if it were not being swapped. */
  #path(): string {
    const pick = (paths: readonly string[]): string => this.#random.pick(paths) ?? "";
    if (this.#random.next() < 0.5) return pick(this.#paths);
    return pick([
      ...editable,
      `made/${this.#count}`,
      `swapped/made-${this.#count}`,
      `folder/swapped/inner/${this.#count}`,
    ]);
  }
}

const editable = [
  "plain",
  "folder/victim",
  "link-inside/victim",
  "swapped/victim",
  "swapped/inner/victim",
  "folder/swapped/victim",
  "folder/swapped/inner/victim",
  "swapped-file",
];

/** Paths that must not be written to. */
function hostilePaths(world: HostileWorld): string[] {
  const { workspace, outside } = world;
  const name = outsideName(world);
  const targets = ["victim", "inner/victim", "new", "inner/new", "new/deep/file"];
  const ways = [
    ["link-folder", "link-inner", "link-link", "link-up", `link-up/${name}`, `link-root${outside}`],
    [`link-process/../cwd/../${name}`, `link-current/../${name}`, "dangling-folder", "loop", "pipe", "socket"],
    [outside, `/${outside}`, `${outside}/.`, `${outside}/inner/..`, `${workspace}/../${name}`],
    [`/proc/self/root${outside}`, `/proc/self/cwd/../${name}`, `/proc/${process.pid}/root${outside}`],
    [`../${name}`, `./../${name}`, `folder/../../${name}`, `missing/../../${name}`, `folder/./.././../${name}`],
    [outside.toUpperCase(), `../${name.toUpperCase()}`, "Link-Folder", "LINK-FOLDER", "FOLDER/../link-folder"],
    [`folder\0/../../${name}`, `..\\${name}`, `%2e%2e/${name}`, `..\u2215${name}`, `~/../${outside}`],
  ].flat();
  return [
    ways.flatMap((way) => targets.map((target) => `${way}/${target}`)),
    ["link-file", "dangling", "loop", "pipe", "link-pipe", "socket", "device", "link-root", "link-process"],
    ["folder", "link-folder", "link-inside", ".", "..", "/", "./", "../", "~", "$HOME/x", "-", "--", "...", "*"],
    ["x".repeat(300), "x".repeat(5_000), "x/".repeat(2_500), `${"../".repeat(2_000)}${outside}/victim`],
    [`${"folder/../".repeat(500)}link-folder/victim`, "folder/victim/x", "plain/", "folder/victim/..", "\0", "a\0b"],
    [`${outside}/victim\0.txt`, "\u202evictim", "link-folder/", "link-folder/.", "link-file/", "device/x"],
    ["link-process/0", "link-process/1", "link-process/2", "/proc/self/fd/1", "/dev/fd/1"],
  ].flat();
}
