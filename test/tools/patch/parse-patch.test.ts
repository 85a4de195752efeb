import { expect, test } from "vitest";
import { parsePatch } from "../../../src/tools/patch/parse-patch.js";

const patch = (...lines: string[]): string => ["*** Begin Patch", ...lines, "*** End Patch"].join("\n");

test("a patch adds, deletes, updates and moves", () => {
  const input = patch(
    "*** Add File: new.txt",
    "+one",
    "+",
    "*** Delete File: gone.txt",
    "*** Update File: a.ts",
    "*** Move to: b.ts",
    "@@ class A {",
    "@@ run() {",
    " same",
    "-old",
    "+new",
    "*** End of File",
    "*** Update File: c.ts",
    "-x",
    "",
    "+y",
  );
  expect(parsePatch(input)).toEqual([
    { type: "add", path: "new.txt", content: "one\n\n" },
    { type: "delete", path: "gone.txt" },
    {
      type: "update",
      path: "a.ts",
      movePath: "b.ts",
      chunks: [
        {
          contexts: ["class A {", "run() {"],
          lines: [
            { kind: "context", text: "same" },
            { kind: "removed", text: "old" },
            { kind: "added", text: "new" },
          ],
          atEnd: true,
        },
      ],
    },
    {
      type: "update",
      path: "c.ts",
      movePath: undefined,
      chunks: [
        {
          contexts: [],
          lines: [
            { kind: "removed", text: "x" },
            { kind: "context", text: "" },
            { kind: "added", text: "y" },
          ],
          atEnd: false,
        },
      ],
    },
  ]);
});

const bare = patch("*** Delete File: a");

test.each([
  ["a heredoc", `apply_patch <<'EOF'\n${bare}\nEOF`],
  ["a heredoc without a command", `<<EOF\n${bare}\nEOF`],
  ["a heredoc with a quoted delimiter", `apply_patch <<"PATCH"\n${bare}\nPATCH\n`],
  ["white space around the patch", `\n  ${bare}  \n\n`],
  ["white space around its markers", bare.replaceAll(/^/gm, " ").replace(" *** Delete", "*** Delete")],
  ["CRLF line endings", bare.replaceAll("\n", "\r\n")],
])("%s is unwrapped", (_, input) => {
  expect(parsePatch(input)).toEqual([{ type: "delete", path: "a" }]);
});

test.each([
  ["line numbers of a unified diff", "@@ -1,2 +3,4 @@"],
  ["short line numbers of a unified diff", "@@ -1 +3 @@"],
  ["nothing", "@@"],
])("%s after @@ is not taken as context", (_, line) => {
  expect(parsePatch(patch("*** Update File: a", line, "-x"))).toMatchObject([{ chunks: [{ contexts: [] }] }]);
});

test("empty lines after a chunk are not part of it", () => {
  const parsed = parsePatch(patch("*** Update File: a", "-x", "", "", "*** Delete File: b"));
  expect(parsed).toMatchObject([{ chunks: [{ lines: [{ kind: "removed", text: "x" }] }] }, { type: "delete" }]);
});

test.each([
  ["no begin marker", "*** Delete File: a\n*** End Patch", "the first line must be '*** Begin Patch'"],
  ["no end marker", "*** Begin Patch\n*** Delete File: a", "the last line must be '*** End Patch'"],
  ["only a begin marker", "*** Begin Patch", "the last line must be '*** End Patch'"],
  ["no files", patch(), "the patch has no files"],
  ["a line that is not a patch header", patch("diff --git a b"), "line 2 of the patch: expected '*** Add File: '"],
  [
    "an added file without plus lines",
    patch("*** Add File: a", "text"),
    "line 3 of the patch: expected '*** Add File: '",
  ],
  ["an update without changes", patch("*** Update File: a"), "line 3 of the patch: no changes given for a"],
  ["an @@ line without lines", patch("*** Update File: a", "@@ x"), "line 4 of the patch: expected lines that start"],
  [
    "a line without a prefix",
    patch("*** Update File: a", "-x", "y"),
    "line 4 of the patch: expected a line that starts",
  ],
  ["no path", patch("*** Delete File:  "), "line 2 of the patch: expected '*** Add File: '"],
  ["NUL in a path", patch("*** Delete File: a\0b"), "line 2 of the patch: expected a path, without NUL"],
  ["NUL in a move path", patch("*** Update File: a", "*** Move to: b\0"), "line 3 of the patch: expected a path"],
])("a patch with %s is refused", (_, input, problem) => {
  expect(() => parsePatch(input)).toThrow(problem);
});
