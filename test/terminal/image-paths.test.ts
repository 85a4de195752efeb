import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { imagePaths } from "../../src/cli/terminal/model/image-paths.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const png = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");

async function folderWithImages() {
  const homedir = await temporaryFolder();
  const cwd = join(homedir, "project");
  await mkdir(join(cwd, "folder.png"), { recursive: true });
  for (const name of ["a.png", "B.JPG", "my image (1).webp", "it's.gif", 'qu"ote.png', "ü 界.jpeg", "notes.txt"])
    await writeFile(join(cwd, name), png);
  await writeFile(join(homedir, "home.png"), png);
  return { homedir, cwd };
}

describe("a text that is nothing but paths of images", () => {
  it("is recognised however a terminal writes the paths", async () => {
    const context = await folderWithImages();
    const { cwd, homedir } = context;
    const at = (...names: string[]) => names.map((name) => join(cwd, name));
    const cases: [string, string[]][] = [
      [join(cwd, "a.png"), at("a.png")],
      ["a.png", at("a.png")],
      ["./B.JPG\n", at("B.JPG")],
      [` '${join(cwd, "a.png")}' `, at("a.png")],
      [`"${join(cwd, "my image (1).webp")}"`, at("my image (1).webp")],
      [join(cwd, "my image (1).webp"), at("my image (1).webp")],
      [join(cwd, "my\\ image\\ \\(1\\).webp"), at("my image (1).webp")],
      [`'${cwd}/it'\\''s.gif'`, at("it's.gif")],
      [`"${cwd}/qu\\"ote.png"`, at('qu"ote.png')],
      [pathToFileURL(join(cwd, "ü 界.jpeg")).href, at("ü 界.jpeg")],
      ["ü 界.jpeg", at("ü 界.jpeg")],
      ["~/home.png", [join(homedir, "home.png")]],
      ["'~/home.png'", [join(homedir, "home.png")]],
      ["a.png B.JPG", at("a.png", "B.JPG")],
      [`'${cwd}/my image (1).webp' ${cwd}/a.png`, at("my image (1).webp", "a.png")],
      [`${cwd}/a.png\n${cwd}/B.JPG\n`, at("a.png", "B.JPG")],
    ];
    for (const [text, paths] of cases) expect([text, await imagePaths(text, context)]).toEqual([text, paths]);
  });

  it("is not recognised in anything else", async () => {
    const context = await folderWithImages();
    const words = [
      "",
      " ",
      "look at a.png",
      "a.png please",
      "missing.png",
      "notes.txt",
      "folder.png",
      "a.png missing.png",
    ];
    const odd = ["'a.png", "a.png\\", "\0a.png", "file://%", "file://example.com/a.png", "http://example.com/a.png"];
    const texts = [...words, ...odd, "a.png ".repeat(21), `${"x".repeat(20_000)}.png`];
    for (const text of texts) expect([text, await imagePaths(text, context)]).toEqual([text, undefined]);
  });
});
