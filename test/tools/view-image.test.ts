import { execFileSync } from "node:child_process";
import { symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { viewImage } from "../../src/tools/view-image.js";
import { images } from "../support/images.js";
import { call, toolContext } from "./tool-context.js";

test.each(Object.entries(images))("a %s image is shown, whatever its file extension", async (kind, bytes) => {
  const context = await toolContext();
  const path = join(context.cwd, "picture.txt");
  await writeFile(path, bytes);
  expect(await call(viewImage, { path: "picture.txt" }, context)).toEqual({
    content: `${path} (image/${kind}, ${bytes.length} bytes)`,
    success: true,
    images: [`data:image/${kind};base64,${bytes.toString("base64")}`],
  });
});

test.each(Object.entries(images))("a truncated %s image is not shown", async (kind, bytes) => {
  const context = await toolContext();
  await writeFile(join(context.cwd, "cut"), bytes.subarray(0, -3));
  const { content, success } = await call(viewImage, { path: "cut" }, context);
  expect([content.replace(context.cwd, "~"), success]).toEqual([
    `cannot view ~/cut: its end is missing (image/${kind})`,
    false,
  ]);
});

function png(width: number, height: number): Buffer {
  const bytes = Buffer.from(images.png);
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes;
}

test.each([
  ["wide", png(8_001, 1), "it is wider or higher than 8000 pixels"],
  ["high", png(1, 0x7f_ff_ff_ff), "it is wider or higher than 8000 pixels"],
  ["of no size", png(0, 1), "it has no size information (image/png)"],
  ["without a frame", Buffer.from("ffd8ffe000020000ffd9", "hex"), "it has no size information (image/jpeg)"],
])("an image %s is not shown", async (name, bytes, problem) => {
  const context = await toolContext();
  await writeFile(join(context.cwd, name), bytes);
  const { content, success } = await call(viewImage, { path: name }, context);
  expect([content.endsWith(`: ${problem}`), success]).toEqual([true, false]);
});

test.each([
  ["text.png", "it is not a png, jpeg, gif or webp image"],
  ["empty", "it is not a png, jpeg, gif or webp image"],
  ["large", "it is larger than 3750000 bytes"],
  ["missing", "it does not exist"],
  ["pipe", "it is a named pipe, not a regular file"],
  [".", "it is a folder, not a regular file"],
  ["system", "system files cannot be read"],
])("%s is not shown: %s", async (name, problem) => {
  const context = await toolContext();
  const at = (file: string): string => join(context.cwd, file);
  await writeFile(at("text.png"), "<svg/>");
  for (const file of ["empty", "large"]) await writeFile(at(file), "");
  await truncate(at("large"), 3_750_001);
  execFileSync("mkfifo", [at("pipe")]);
  await symlink("/proc/self/environ", at("system"));
  const { content, success, images: shown } = await call(viewImage, { path: name }, context);
  expect([content.endsWith(`: ${problem}`), success, shown]).toEqual([true, false, undefined]);
});
