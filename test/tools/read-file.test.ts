import { execFileSync } from "node:child_process";
import { truncateSync } from "node:fs";
import { mkdir, stat, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { stampOf } from "../../src/tools/files/file-stamps.js";
import { readFile } from "../../src/tools/read-file.js";
import { openFilesIn } from "../support/open-files.js";
import { call, type TestContext, toolContext } from "./tool-context.js";

async function read(content: string | Uint8Array, args: object = {}, context?: TestContext): Promise<string> {
  const used = context ?? (await toolContext());
  await writeFile(join(used.cwd, "file"), content);
  return (await call(readFile, { path: "file", ...args }, used)).content;
}

/** The output for a file that cannot be read. */
function refusal(path: string, reason: string): object {
  return { content: `cannot read ${path}: ${reason}`, success: false };
}

describe("read_file returns", () => {
  const ten = Array.from({ length: 10 }, (_, index) => `line ${index + 1}\n`).join("");

  test("a small file unchanged", async () => {
    const text = "one\r\ntwo\n\n€ without an end";
    expect(await read(text)).toBe(text);
  });

  test.each([
    [{ limit: 2 }, "line 1\nline 2\n[This is lines 1 to 2. To read more, use offset 3.]"],
    [{ offset: 4, limit: 1 }, "line 4\n[This is line 4. To read more, use offset 5.]"],
    [{ offset: 9 }, "line 9\nline 10\n[This is lines 9 to 10, up to the end of the file.]"],
    [{ offset: 9, limit: 2 }, "line 9\nline 10\n[This is lines 9 to 10, up to the end of the file.]"],
  ])("%j", async (args, expected) => {
    expect(await read(ten, args)).toBe(expected);
  });

  test("the number of lines for an offset past the end", async () => {
    const context = await toolContext();
    await read(ten, {}, context);
    for (const [content, lines] of [
      [ten, "10 lines"],
      [ten.trimEnd(), "10 lines"],
      ["one", "1 line"],
    ] as const) {
      expect(await read(content, { offset: 11 }, context)).toBe(
        `cannot read ${join(context.cwd, "file")}: it has ${lines}, so line 11 is past its end`,
      );
    }
  });

  test("a note for an empty file", async () => {
    expect(await read("")).toBe("[The file is empty.]");
  });

  test("at most 2,000 lines", async () => {
    const text = await read("x\n".repeat(2_001));
    expect(text).toBe(`${"x\n".repeat(2_000)}[This is lines 1 to 2000. To read more, use offset 2001.]`);
  });

  test("at most 64 KiB, in whole lines", async () => {
    const line = `${"x".repeat(999)}\n`;
    const text = await read(line.repeat(100));
    expect(text).toBe(`${line.repeat(65)}[This is lines 1 to 65. To read more, use offset 66.]`);
  });

  test("a line that is too long, cut between two characters", async () => {
    const text = await read(`short\n${"€".repeat(30_000)}\nlast\n`, { offset: 2 });
    const note = "[Only the beginning of line 2: it is too long. The next line has offset 3.]";
    expect(text).toBe(`${"€".repeat(21_845)}\n${note}`);
  });

  test("the first lines of ten gigabytes without reading the rest", async () => {
    const context = await toolContext();
    const path = join(context.cwd, "huge");
    await writeFile(path, "text\n".repeat(20_000));
    truncateSync(path, 10_000_000_000);
    const { content } = await call(readFile, { path, limit: 1 }, context);
    expect(content).toBe("text\n[This is line 1. To read more, use offset 2.]");
  });

  test("early from the search for a distant line when the turn is interrupted", async () => {
    const controller = new AbortController();
    const context = await toolContext({ signal: controller.signal });
    const path = join(context.cwd, "huge");
    await writeFile(path, "text\n".repeat(20_000));
    truncateSync(path, 10_000_000_000);
    const output = call(readFile, { path, offset: 1_000_000 }, context);
    controller.abort();
    expect(await output).toEqual(refusal(path, "interrupted"));
  });

  test("a note instead of a byte order mark", async () => {
    expect(await read("\u{feff}one\r\n")).toBe("one\r\n[The file begins with a byte order mark, not shown here.]");
  });
});

describe("a file that is not text is refused with its size", () => {
  test.each([
    ["NUL at the beginning", "a\0b", "it is a binary file (3 bytes)"],
    ["a single byte", Uint8Array.of(0xff), "it is a binary file (1 byte)"],
    ["Latin-1", Uint8Array.of(0x61, 0xe9, 0x62), "it is a binary file (3 bytes)"],
    ["a character cut off at the end", Buffer.from("a€").subarray(0, 3), "it is a binary file (3 bytes)"],
    [
      "invalid UTF-8 late in the file",
      Buffer.concat([Buffer.from("x".repeat(9_000)), Uint8Array.of(0xff)]),
      "it is not UTF-8 text (9001 bytes)",
    ],
  ])("%s", async (_, content, reason) => {
    const context = await toolContext();
    expect(await read(content, {}, context)).toBe(`cannot read ${join(context.cwd, "file")}: ${reason}`);
  });
});

describe("a path that is not a regular file is refused without waiting", () => {
  test("folders, pipes, sockets and missing files", async () => {
    const context = await toolContext();
    const at = (name: string): string => join(context.cwd, name);
    await mkdir(at("folder"));
    execFileSync("mkfifo", [at("pipe")]);
    const server = createServer().listen(at("socket"));
    onTestFinished(() => void server.close());
    await writeFile(at("file"), "");
    const outputs = await Promise.all(
      ["folder", "pipe", "socket", "nothing", "file/below"].map((path) => call(readFile, { path }, context)),
    );
    expect(outputs).toEqual([
      refusal(at("folder"), "it is a folder, not a regular file"),
      refusal(at("pipe"), "it is a named pipe, not a regular file"),
      refusal(at("socket"), "it is a socket, not a regular file"),
      refusal(at("nothing"), "it does not exist"),
      refusal(at("file/below"), "a part of the path is not a folder"),
    ]);
  });

  test("devices and system files, also through links", async () => {
    const context = await toolContext();
    await symlink("/proc/self", join(context.cwd, "self"));
    const outputs = await Promise.all(
      ["/dev/zero", "/proc/self/environ", "self/environ", "/proc/version"].map((path) =>
        call(readFile, { path }, context),
      ),
    );
    expect(outputs.map(({ content, success }) => [content.split(": ")[1], success])).toEqual([
      ["it is a device, not a regular file", false],
      ["system files cannot be read", false],
      ["system files cannot be read", false],
      ["system files cannot be read", false],
    ]);
  });
});

test("invalid and unknown arguments are refused", () => {
  const refused = [
    {},
    { path: "" },
    { path: "a\0" },
    { path: "a", offset: 0 },
    { path: "a", limit: 2_001 },
    { path: "a", x: 1 },
  ];
  expect(refused.filter((args) => readFile.parameters.safeParse(args).success)).toEqual([]);
});

test("the stamp of a file is remembered under its real path", async () => {
  const context = await toolContext();
  const path = join(context.cwd, "file");
  await writeFile(path, "text");
  await symlink("file", join(context.cwd, "link"));
  await call(readFile, { path: "link" }, context);
  expect(context.stamps.get(path)).toBe(stampOf(await stat(path, { bigint: true })));
});

test("calls leave no open descriptor", async () => {
  const context = await toolContext();
  for (const content of ["text", "\0", ""]) await read(content, {}, context);
  await call(readFile, { path: "/proc/self/environ" }, context);
  expect(openFilesIn(context.cwd)).toEqual([]);
});
