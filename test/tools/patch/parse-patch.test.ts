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
  ["one without a command", `<<EOF\n${bare}\nEOF`],
  ["one in double quotes with another word", `apply_patch <<"PATCH"\n${bare}\nPATCH\n`],
  ["blanks around it", `\n  ${bare}  \n\n`],
  ["blanks around its markers", bare.replaceAll(/^/gm, " ").replace(" *** Delete", "*** Delete")],
  ["line ends of another system", bare.replaceAll("\n", "\r\n")],
])("%s is unwrapped", (_, input) => {
  expect(parsePatch(input)).toEqual([{ type: "delete", path: "a" }]);
});

test.each([
  ["numbers of a unified diff", "@@ -1,2 +3,4 @@"],
  ["numbers and nothing else", "@@ -1 +3 @@"],
  ["nothing", "@@"],
])("%s after @@ are no context", (_, line) => {
  expect(parsePatch(patch("*** Update File: a", line, "-x"))).toMatchObject([{ chunks: [{ contexts: [] }] }]);
});

test("empty lines behind a chunk are not part of it", () => {
  const parsed = parsePatch(patch("*** Update File: a", "-x", "", "", "*** Delete File: b"));
  expect(parsed).toMatchObject([{ chunks: [{ lines: [{ kind: "removed", text: "x" }] }] }, { type: "delete" }]);
});

test.each([
  ["no beginning", "*** Delete File: a\n*** End Patch", "the first line must be '*** Begin Patch'"],
  [
    "no end, as of a patch that was cut",
    "*** Begin Patch\n*** Delete File: a",
    "the last line must be '*** End Patch'",
  ],
  ["only a beginning", "*** Begin Patch", "the last line must be '*** End Patch'"],
  ["nothing in it", patch(), "the patch has no files"],
  ["something else", patch("diff --git a b"), "line 2 of the patch: expected '*** Add File: '"],
  ["a new file without plus", patch("*** Add File: a", "text"), "line 3 of the patch: expected '*** Add File: '"],
  ["an update of nothing", patch("*** Update File: a"), "line 3 of the patch: no changes given for a"],
  ["a place without lines", patch("*** Update File: a", "@@ x"), "line 4 of the patch: expected lines that start"],
  ["a line of no kind", patch("*** Update File: a", "-x", "y"), "line 4 of the patch: expected a line that starts"],
  ["no path", patch("*** Delete File:  "), "line 2 of the patch: expected '*** Add File: '"],
  ["NUL in a path", patch("*** Delete File: a\0b"), "line 2 of the patch: expected a path, without NUL"],
  ["NUL in another", patch("*** Update File: a", "*** Move to: b\0"), "line 3 of the patch: expected a path"],
])("a patch with %s is refused", (_, input, problem) => {
  expect(() => parsePatch(input)).toThrow(problem);
});
