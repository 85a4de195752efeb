import * as fc from "fast-check";
import type { ChangedFile, FileVersion } from "../../src/changes/changed-file.js";

/** The files of a folder by their paths. */
export type Tree = ReadonlyMap<string, FileVersion>;

/** A folder before and after a sequence of edits. */
export interface EditSequence {
  readonly before: Tree;
  readonly after: Tree;
}

const paths = [
  "a.txt",
  "src/b.ts",
  "src/deep/c d.md",
  "ünïcode ☃.txt",
  "tab\there",
  'quote"s',
  "back\\slash",
  "new\nline",
  "-dash",
  " lead and trail ",
  "dir",
  "dir/inner.txt",
  "dir/inner/most",
];

const line = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom("", "}", "{", "  return;", "end", "\r", "a\r") },
  { weight: 4, arbitrary: fc.nat({ max: 12 }).map((number) => `line ${number}`) },
  { weight: 2, arbitrary: fc.nat({ max: 2_000 }).map((number) => `other ${number} ü`) },
  {
    weight: 1,
    arbitrary: fc.constantFrom("+++ b/x", "--- a/x", "@@ -1 +1 @@", "\\ No newline at end of file", "-", "+"),
  },
);
const lines = fc.oneof(
  { weight: 6, arbitrary: fc.array(line, { maxLength: 30 }) },
  { weight: 2, arbitrary: fc.array(line, { maxLength: 300, size: "max" }) },
  // Long enough that git's diff heuristics give up on the shortest diff.
  { weight: 1, arbitrary: manyLines(1_500) },
);
const endings = fc.constantFrom("\n", "\n", "\n", "");

/** Generated from one seed, because a thousand separately chosen lines take too long to generate. */
function manyLines(count: number): fc.Arbitrary<string[]> {
  return fc.tuple(fc.nat(), fc.constantFrom(5, 60, 900)).map(([seed, words]) => {
    let state = seed;
    return Array.from({ length: count }, () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return `word ${(state >>> 8) % words}`;
    });
  });
}

const text = fc.tuple(lines, endings).map(([all, end]) => Buffer.from(all.join("\n") + (all.length > 0 ? end : "")));
const bytes = fc.uint8Array({ maxLength: 200 }).map((all) => Buffer.from([...all, 0, ...all]));
const latin = fc.constantFrom(Buffer.from("caf\xe9\nna\xefve\n", "latin1"), Buffer.from("caf\xe9\nplain\n", "latin1"));
const file = fc.record({
  mode: fc.constantFrom("100644" as const, "100644" as const, "100755" as const),
  bytes: fc.oneof({ weight: 8, arbitrary: text }, { weight: 1, arbitrary: bytes }, { weight: 1, arbitrary: latin }),
});
const link = fc.record({
  mode: fc.constant("120000" as const),
  bytes: fc.constantFrom("a.txt", "nowhere", "../outside", "src/ü").map((target) => Buffer.from(target)),
});
const version: fc.Arbitrary<FileVersion> = fc.oneof({ weight: 9, arbitrary: file }, { weight: 1, arbitrary: link });
const path = fc.constantFrom(...paths);

type Edit =
  | { readonly type: "write"; readonly path: string; readonly version: FileVersion }
  | { readonly type: "delete"; readonly path: string }
  | { readonly type: "mode"; readonly path: string }
  | {
      readonly type: "splice";
      readonly path: string;
      readonly at: number;
      readonly count: number;
      readonly lines: readonly string[];
    };

const edit: fc.Arbitrary<Edit> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ type: fc.constant("write"), path, version }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("delete"), path }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("mode"), path }) },
  {
    weight: 8,
    arbitrary: fc.record({
      type: fc.constant("splice"),
      path,
      at: fc.nat({ max: 1_500 }),
      count: fc.nat({ max: 12 }),
      lines: fc.array(line, { maxLength: 6 }),
    }),
  },
);

export const editSequences: fc.Arbitrary<EditSequence> = fc
  .tuple(
    fc.array(fc.tuple(path, version), { maxLength: 8 }),
    fc.array(edit, { minLength: 1, maxLength: 60, size: "max" }),
  )
  .map(([files, edits]) => {
    const before = new Map<string, FileVersion>();
    for (const [name, content] of files) put(before, name, content);
    const after = new Map(before);
    for (const step of edits) apply(after, step);
    return { before, after };
  });

function apply(tree: Map<string, FileVersion>, step: Edit): void {
  const known = tree.get(step.path);
  if (step.type === "write") put(tree, step.path, step.version);
  else if (step.type === "delete") tree.delete(step.path);
  else if (known === undefined || known.mode === "120000") return;
  else if (step.type === "mode") tree.set(step.path, { ...known, mode: known.mode === "100644" ? "100755" : "100644" });
  else {
    const all = Buffer.from(known.bytes).toString("latin1").split("\n");
    all.splice(step.at % (all.length + 1), step.count, ...step.lines.map((one) => Buffer.from(one).toString("latin1")));
    tree.set(step.path, { ...known, bytes: Buffer.from(all.join("\n"), "latin1") });
  }
}

/** A path is either a file or a folder, so files that conflict with it are removed. */
function put(tree: Map<string, FileVersion>, name: string, content: FileVersion): void {
  for (const other of tree.keys()) if (other.startsWith(`${name}/`) || name.startsWith(`${other}/`)) tree.delete(other);
  tree.set(name, content);
}

export function changesOf({ before, after }: EditSequence): ChangedFile[] {
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].map((name) => ({ path: name, before: before.get(name), after: after.get(name) }));
}
