import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { TurnDiffTracker } from "../../src/changes/turn-diff-tracker.js";
import type { DiffHunk } from "../../src/messages/tools/diff.js";
import { changesOf, editSequences } from "../support/edit-sequences.js";

const numbered = Array.from({ length: 10 }, (_, index) => `${index + 1}\n`);

test("a modification has the old content, the new content and hunks with context lines", () => {
  const tracker = new TurnDiffTracker();
  const [original, modified] = [numbered.join(""), numbered.toSpliced(4, 1, "five\n", "more\n").join("")];
  tracker.recordFileModification("src/main.rs", original, modified);
  expect(tracker.filesModified.get("src/main.rs")).toEqual({
    path: "src/main.rs",
    status: "modified",
    additions: 2,
    deletions: 1,
    original: { mode: "100644", bytes: Buffer.from(original) },
    current: { mode: "100644", bytes: Buffer.from(modified) },
    hunks: [
      {
        old_start: 2,
        old_count: 7,
        new_start: 2,
        new_count: 8,
        lines: [
          { type: "context", text: "2" },
          { type: "context", text: "3" },
          { type: "context", text: "4" },
          { type: "deletion", text: "5" },
          { type: "addition", text: "five" },
          { type: "addition", text: "more" },
          { type: "context", text: "6" },
          { type: "context", text: "7" },
          { type: "context", text: "8" },
        ],
      },
    ],
  });
});

test("the summary counts files and lines, and the diff is in the format of git apply", () => {
  const tracker = new TurnDiffTracker();
  tracker.recordFileModification("b", "one\n", "two");
  tracker.recordFileCreation("a b", "new\n");
  tracker.recordFileDeletion("c", "old\n");
  expect(tracker.getSummary()).toEqual({
    files_modified: 1,
    files_created: 1,
    files_deleted: 1,
    total_additions: 2,
    total_deletions: 2,
  });
  expect([...tracker.filesCreated, ...tracker.filesDeleted]).toEqual(["a b", "c"]);
  expect(tracker.generateUnifiedDiff()).toBe(`diff --git a/a b b/a b
new file mode 100644
index 0000000..3e75765
--- /dev/null
+++ b/a b\t
@@ -0,0 +1 @@
+new
diff --git a/b b/b
index 5626abf..64c5e58 100644
--- a/b
+++ b/b
@@ -1 +1 @@
-one
+two
\\ No newline at end of file
diff --git a/c b/c
deleted file mode 100644
index 3367afd..0000000
--- a/c
+++ /dev/null
@@ -1 +0,0 @@
-old
`);
});

test("a file keeps its first original content, and a file back at that content is not changed", () => {
  const tracker = new TurnDiffTracker();
  tracker.recordFileModification("a", "1\n", "2\n");
  tracker.recordFileModification("a", "2\n", "3\n");
  tracker.recordFileCreation("b", "new\n");
  tracker.recordFileDeletion("b", "new\n");
  tracker.recordFileDeletion("c", "same\n");
  tracker.recordFileCreation("c", "same\n");
  expect(tracker.files.map(({ path, original }) => [path, String(original?.bytes)])).toEqual([["a", "1\n"]]);
  tracker.recordFileModification("a", "3\n", "1\n");
  expect(tracker.isEmpty).toBe(true);
});

describe("changes other than plain text", () => {
  const cases: readonly (readonly [what: string, change: Parameters<TurnDiffTracker["record"]>[0], diff: string])[] = [
    [
      "a mode change",
      { path: "run", before: file("x\n"), after: { ...file("x\n"), mode: "100755" } },
      "diff --git a/run b/run\nold mode 100644\nnew mode 100755\n",
    ],
    [
      "an empty file",
      { path: "empty", after: file("") },
      "diff --git a/empty b/empty\nnew file mode 100644\nindex 0000000..e69de29\n",
    ],
    [
      "a name with special characters",
      { path: 'ü"\t\\', before: file("") },
      'diff --git "a/\\303\\274\\"\\t\\\\" "b/\\303\\274\\"\\t\\\\"\ndeleted file mode 100644\nindex e69de29..0000000\n',
    ],
    [
      "a file that became a link",
      { path: "a", before: file("x\n"), after: { mode: "120000", bytes: Buffer.from("b") } },
      `diff --git a/a b/a
deleted file mode 100644
index 587be6b..0000000
--- a/a
+++ /dev/null
@@ -1 +0,0 @@
-x
diff --git a/a b/a
new file mode 120000
index 0000000..63d8dbd
--- /dev/null
+++ b/a
@@ -0,0 +1 @@
+b
\\ No newline at end of file
`,
    ],
  ];
  test.each(cases)("%s", (_what, change, diff) => {
    const tracker = new TurnDiffTracker();
    tracker.record(change);
    expect(tracker.generateUnifiedDiff()).toBe(diff);
  });

  test("a binary file has no hunks, and is in the diff completely", () => {
    const tracker = new TurnDiffTracker();
    tracker.recordFileModification("a.bin", Buffer.from([0, 1]), Buffer.from([0, 2]));
    expect(tracker.files).toMatchObject([{ additions: 0, deletions: 0, binary: true, hunks: [] }]);
    expect(tracker.generateUnifiedDiff()).toMatch(/^GIT binary patch\nliteral 2\n/m);
  });
});

test("files that make the diff too long are left out and counted", () => {
  const tracker = new TurnDiffTracker();
  tracker.recordFileCreation("long", "line\n".repeat(1_000));
  tracker.recordFileCreation("short", "line\n");
  const { unified_diff, files, summary, files_created, left_out } = tracker.turnDiff({ maxChars: 1_000 });
  expect(unified_diff).toContain("diff --git a/short b/short");
  expect(unified_diff).not.toContain("long");
  expect(files.map(({ path }) => path)).toEqual(["short"]);
  expect([left_out, files_created, summary.total_additions]).toEqual([1, ["long", "short"], 1_001]);
});

test("applying the hunks to the old lines gives the new lines", () => {
  fc.assert(
    fc.property(editSequences, (sequence) => {
      const tracker = new TurnDiffTracker();
      changesOf(sequence).forEach((change) => tracker.record(change));
      const texts = tracker.files.filter(
        ({ original, current, binary }) => binary !== true && original?.mode !== "120000" && current?.mode !== "120000",
      );
      const made = texts.map(({ original, hunks }) => patched(text(original?.bytes), hunks));
      expect(made).toEqual(texts.map(({ current }) => text(current?.bytes)));
    }),
    { numRuns: 60 },
  );
  expect.hasAssertions();
});

function file(content: string) {
  return { mode: "100644" as const, bytes: Buffer.from(content) };
}

function text(bytes: Uint8Array = new Uint8Array()): string {
  return Buffer.from(bytes).toString();
}

/** Applies hunks by the definition of the format only. */
function patched(old: string, hunks: readonly DiffHunk[]): string {
  const lines = old.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  let [result, at] = ["", 0];
  for (const hunk of hunks) {
    const start = hunk.old_count === 0 ? hunk.old_start : hunk.old_start - 1;
    result += lines.slice(at, start).join("");
    at = start + hunk.old_count;
    for (const line of hunk.lines) {
      if (line.type !== "deletion") result += line.text + (line.no_newline === true ? "" : "\n");
    }
  }
  return result + lines.slice(at).join("");
}
