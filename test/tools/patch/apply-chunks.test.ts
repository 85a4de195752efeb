import { execFileSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type FileUpdate, parsePatch } from "../../../src/tools/patch/parse-patch.js";
import { applyChunks } from "../../../src/tools/patch/apply-chunks.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

function update(old: string, ...lines: string[]): string {
  return applyChunks(old, chunksOf(lines)).text;
}

function chunksOf(lines: readonly string[]): FileUpdate["chunks"] {
  const [file] = parsePatch(["*** Begin Patch", "*** Update File: f", ...lines, "*** End Patch"].join("\n"));
  return (file as FileUpdate).chunks;
}

test.each([
  ["a line is replaced", "a\nb\nc\n", [" a", "-b", "+B"], "a\nB\nc\n"],
  ["chunks are applied in order", "x\na\nx\na\n", ["@@", " x", "-a", "@@", " x", "-a", "+b"], "x\nx\nb\n"],
  ["an @@ line selects the place", "f\nx\ng\nx\n", ["@@ g", "-x", "+y"], "f\nx\ng\ny\n"],
  ["nested @@ lines select the place", "A\nm\nB\nm\nx\n", ["@@ B", "@@ m", "-x", "+y"], "A\nm\nB\nm\ny\n"],
  ["the @@ line may be repeated as context", "f\ng\nx\n", ["@@ g", " g", "-x", "+y"], "f\ng\ny\n"],
  ["End of File selects the last match", "x\na\nx\n", ["-x", "+y", "*** End of File"], "x\na\ny\n"],
  ["lines are added after the @@ line", "a\nb\n", ["@@ a", "+x"], "a\nx\nb\n"],
  ["lines are added at the end", "a\n", ["+x", "+y"], "a\nx\ny\n"],
  ["lines are added to an empty file", "", ["+x"], "x\n"],
  ["all lines are removed", "a\n", ["-a"], ""],
  ["trailing white space is ignored", "a  \nb\n", [" a", "-b", "+c"], "a  \nc\n"],
  ["leading white space is ignored", "\ta\n\tb\n", [" a", "-b", "+\tc"], "\ta\n\tc\n"],
  ["typographic characters match their ASCII forms", "it’s – “x”\n", ['-it\'s - "x"', "+y"], "y\n"],
  ["line endings are kept", "a\r\nb\nc\r\n", [" a", "-c", "+d"].toSpliced(1, 0, " b"), "a\r\nb\nd\r\n"],
  ["a missing final newline stays missing", "a\nb", ["-a", "+x"], "x\nb"],
  ["a last line gets a newline when another follows", "a\nb", ["@@ b", "+c"], "a\nb\nc\n"],
  ["a replaced last line gets a newline", "a\nb", ["-b", "+c"], "a\nc\n"],
  ["a byte order mark is kept", "\u{feff}a\nb\n", ["-a", "+x"], "\u{feff}x\nb\n"],
])("%s", (_, old, lines, made) => {
  expect(update(old, ...lines)).toBe(made);
});

test("lines that are not in the file are reported", () => {
  expect(() => update("a\nb\n", "-c")).toThrow("these lines are not in it:\nc");
  expect(() => update("a\nb\n", "@@ b", "-a")).toThrow("these lines are not in it after line 2:\na");
  expect(() => update("a\nb\n", "@@ c", "-a")).toThrow("these lines are not in it:\nc");
  expect(() => update("a\n", `-${"x".repeat(5_000)}`)).toThrow(/^these lines are not in it:\nx{1000}…$/);
});

test("two parts of a patch cannot change the same line", () => {
  expect(() => update("a\nb", "-b", "+c", "@@", "+d")).toThrow("two parts of the patch change the same lines");
});

test("many similar lines are refused instead of matched slowly", () => {
  const lines = [...Array.from({ length: 20_000 }, () => " same line"), "-other"];
  expect(() => update("same line\n".repeat(100_000), ...lines)).toThrow("too similar");
});

test.each([
  ["a\nb\nc\nd\ne\nf\n", [" b", "-c", "+C", "+CC", "@@ e", "-f"]],
  ["a\nb", ["@@ b", "+c"]],
  ["a\nb", ["-b", "+c"]],
  ["a\nb", ["-a", " b"]],
  ["a\r\nb\r\n", ["-a", "+x", " b"]],
  ["a\nb\n", ["+c"]],
  ["a\n", ["-a"]],
])("git applies the unified diff of %j", async (old, lines) => {
  const folder = await temporaryFolder();
  const { text, unifiedDiff } = applyChunks(old, chunksOf(lines));
  await writeFile(join(folder, "f"), old);
  await writeFile(join(folder, "patch"), `--- a/f\n+++ b/f\n${unifiedDiff}`);
  execFileSync("git", ["apply", "--unidiff-zero", "patch"], { cwd: folder });
  expect(await readFile(join(folder, "f"), "utf8")).toBe(text);
});
