import { readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readActive, writeActive } from "../../src/config/project/active-conversation.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const key = { projectRoot: "/projects/one", directory: "/home/alice/.cody/conversations" };

test("each project and each conversation directory has its own active conversation", async () => {
  const home = await temporaryFolder();
  const otherProject = { ...key, projectRoot: "/projects/two" };
  const otherDirectory = { ...key, directory: "/elsewhere" };
  expect(await readActive(home, key)).toBeUndefined();
  await writeActive(home, key, { id: "conv_1" });
  await writeActive(home, otherProject, { id: "conv_2" });
  expect(await readActive(home, key)).toEqual({ id: "conv_1" });
  expect(await readActive(home, otherProject)).toEqual({ id: "conv_2" });
  expect(await readActive(home, otherDirectory)).toBeUndefined();
  await writeActive(home, key, { id: "conv_3" });
  expect(await readActive(home, key)).toEqual({ id: "conv_3" });
  expect(await readActive(home, otherProject)).toEqual({ id: "conv_2" });
});

test("the pointer file is named by a hash and readable by its owner only", async () => {
  const home = await temporaryFolder();
  await writeActive(home, key, { id: "conv_1" });
  const [name, ...others] = await readdir(join(home, "active"));
  expect([name, others]).toEqual([expect.stringMatching(/^[0-9a-f]{32}\.json$/), []]);
  expect((await stat(join(home, "active", name ?? ""))).mode & 0o777).toBe(0o600);
  expect((await stat(join(home, "active"))).mode & 0o777).toBe(0o700);
});

test.each(["", "{", "null", "[]", '{"conversationId":7}', '{"conversationId":"../../etc/passwd"}'])(
  "the damaged pointer %j is ignored",
  async (text) => {
    const home = await temporaryFolder();
    await writeActive(home, key, { id: "conv_1" });
    const [name] = await readdir(join(home, "active"));
    await writeFile(join(home, "active", name ?? ""), text);
    expect(await readActive(home, key)).toBeUndefined();
  },
);
