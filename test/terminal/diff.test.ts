import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { diffLines } from "../../src/cli/terminal/view/diff.js";
import { Emulator } from "./support/emulator.js";
import { arbitraryLine, arbitraryView, badLines, plainView, themes } from "./support/view.js";

const diff = `diff --git a/src/a.ts b/src/a.ts
index 1234567..89abcde 100644
--- a/src/a.ts
+++ b/src/a.ts
@@ -8,3 +8,4 @@ function a() {
 before
-const old = 1;
+const new = 1;
 after
+--- added
@@ -98,2 +99,1 @@
 x
--- removed
diff --git a/b.txt b/b.txt
new file mode 100644
index 0000000..1234567
--- /dev/null
+++ b/b.txt
@@ -0,0 +1 @@
+new
\\ No newline at end of file
`;

describe("diffLines", () => {
  it("numbers the lines of each file", () => {
    expect(diffLines(diff, plainView())).toEqual([
      "src/a.ts (+2, -2)",
      "  8   before",
      "  9 - const old = 1;",
      "  9 + const new = 1;",
      " 10   after",
      " 11 + --- added",
      "  ⋮",
      " 99   x",
      " 99 - -- removed",
      "",
      "b.txt (+1, -0)",
      "new file mode 100644",
      "  1 + new",
      "\\ No newline at end of file",
    ]);
  });

  it("shows a diff without headers", () => {
    expect(diffLines("@@ -1,2 +1,2 @@\n-a\n+b\n c\n", plainView())).toEqual([" 1 - a", " 1 + b", " 2   c"]);
  });

  it("shows renamed and binary files", () => {
    const renamed =
      "diff --git a/old b.txt b/new.txt\nsimilarity index 100%\nrename from old b.txt\nrename to new.txt\n";
    const binary = "diff --git a/a.png b/a.png\nindex 12..34 100644\nBinary files a/a.png and b/a.png differ\n";
    expect(diffLines(renamed + binary, plainView())).toEqual([
      "old b.txt → new.txt",
      "",
      "a.png",
      "Binary files a/a.png and b/a.png differ",
    ]);
  });

  it("breaks long lines beside their numbers", () => {
    expect(diffLines(`@@ -1 +1 @@\n+${"x".repeat(30)}\n`, plainView(20))).toEqual([
      ` 1 + ${"x".repeat(15)}`,
      `     ${"x".repeat(15)}`,
    ]);
  });

  it("says how many lines are left out", () => {
    expect(diffLines(diff, plainView(), { maxLines: 3 })).toEqual([
      "src/a.ts (+2, -2)",
      "  8   before",
      "… 12 more lines",
    ]);
    expect(diffLines(diff, plainView(), { maxLines: 14 })).toHaveLength(14);
  });

  it("colours lines and marks what has changed in them", async () => {
    const emulator = new Emulator();
    await emulator.write(diffLines(diff, { columns: 80, theme: themes.dark }).join("\r\n"));
    expect(emulator.attributesOf("const old")).toMatchObject({ foreground: "#ff8a8a", bold: false });
    expect(emulator.attributesOf("old = 1")).toMatchObject({ foreground: "#ff8a8a", bold: true });
    expect(emulator.attributesOf("new = 1")).toMatchObject({ foreground: "#98cf7a", bold: true });
    expect(emulator.attributesOf("= 1;")).toMatchObject({ bold: false });
    expect(emulator.attributesOf("before").foreground).toBeUndefined();
  });

  it("shows text that is no diff as it is", () => {
    expect(diffLines("any text\n\nat all", plainView())).toEqual(["any text", "", "at all"]);
    expect(diffLines("", plainView())).toEqual([]);
  });

  it("has no line wider than the view and no control sequence but the theme's", () => {
    const sign = fc.constantFrom("+", "-", " ", "", "@@ -1,3 +1,9 @@ ", "diff --git ", "--- ", "\\ ");
    const lines = fc.array(
      fc.tuple(sign, arbitraryLine).map((parts) => parts.join("")),
      { maxLength: 20 },
    );
    fc.assert(
      fc.property(lines, arbitraryView, (parts, view) => {
        expect(badLines(diffLines(["@@ -9998,5 +9998,5 @@", ...parts].join("\n"), view), view)).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });
});
