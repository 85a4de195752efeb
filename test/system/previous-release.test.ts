import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Cli, type CliResult } from "../support/cli.js";

/** The package of an earlier release, as `npm pack` makes it. */
const tarball = process.env["CODY_TEST_PREVIOUS"] ?? "";

let folder = "";

beforeAll(async () => {
  if (tarball === "") throw new Error("CODY_TEST_PREVIOUS: expected the path of an earlier release's cody-0.1.0.tgz");
  folder = await mkdtemp(join(tmpdir(), "cody-previous-"));
  await promisify(execFile)("npm", ["install", "--silent", "--prefix", folder, tarball]);
}, 300_000);

afterAll(() => rm(folder, { recursive: true, force: true }));

async function earlier(cli: Cli, ...args: string[]): Promise<Omit<CliResult, "signal">> {
  const program = join(folder, "node_modules/cody/dist/cli/main.cjs");
  return await new Promise((resolve) => {
    const options = { cwd: cli.project, env: cli.env };
    execFile(process.execPath, [program, ...args], options, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });
}

test("the previous release lists, checks and continues everything that this one has written", async () => {
  const cli = await Cli.open({ spawned: true });
  const offline = ["--provider", "offline"];
  const full = ["--sandbox", "danger-full-access", "--approval-policy", "never"];
  await writeFile(join(cli.project, "tasks.jsonl"), '{"prompt":"What is 2+2?"}\n{"prompt":"run echo batch"}\n');
  const message = { type: "user", message: { role: "user", content: "over the stream" } };
  const commands: readonly (readonly [args: readonly string[], input?: string])[] = [
    [["chat", "my name is Ada", ...offline]],
    [["chat", "write a.txt: one", ...offline, ...full]],
    [["compact"]],
    [["chat", "what is 2+2?"]],
    [["new", "--name", "named", ...offline]],
    [["chat", "-r", "named", "hello there"]],
    [["pin", "named"]],
    [["fork", "named"]],
    [["exec", "run echo x", ...offline, ...full]],
    [["exec", "write b.txt: two", ...offline]],
    [["run", "tasks.jsonl", ...offline, ...full]],
    [["-p", "--output-format", "stream-json", "--input-format", "stream-json", ...offline], JSON.stringify(message)],
    [["knowledge", "add", "tests run with npm test"]],
  ];
  for (const [args, input = ""] of commands) expect(await cli.run(args, { input })).toMatchObject({ code: 0 });
  const ids = (await cli.ids()).filter((id) => id.startsWith("conv_"));
  expect(ids).toHaveLength(8);
  expect(await earlier(cli, "doctor")).toMatchObject({ code: 0 });
  const { stdout } = await earlier(cli, "list", "--json");
  const listed = JSON.parse(stdout) as { id: string; damaged: boolean }[];
  expect(new Set(listed.map(({ id }) => id))).toEqual(new Set(ids));
  expect(listed.filter(({ damaged }) => damaged)).toEqual([]);
  for (const id of ids) {
    expect(await earlier(cli, "resume", id)).toMatchObject({ code: 0 });
    expect(await earlier(cli, "chat", "what is 5+5?")).toMatchObject({ code: 0, stdout: "5+5 = 10\n" });
    expect(await cli.run(["chat", "-r", id, "what did I just say?", "--no-stdin"])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("what is 5+5?"),
    });
  }
  expect(await cli.run(["doctor"])).toMatchObject({ code: 0 });
});
