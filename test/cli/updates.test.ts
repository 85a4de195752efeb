import { once } from "node:events";
import { spawn } from "node:child_process";
import { cp, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { Cli, finished, saysOn } from "../support/cli.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const packageFolder = fileURLToPath(new URL("../..", import.meta.url));
const replaced =
  /^✗ cody was updated or removed while this process was running, .* Start it again: saved conversations/m;
const unloadable = "so it cannot load the rest of its code";

/** An installation of the package, which can be updated and removed. */
async function install() {
  const folder = await temporaryFolder();
  const dist = join(folder, "dist");
  await cp(join(packageFolder, "dist"), dist, { recursive: true, filter: isCode });
  await cp(join(packageFolder, "package.json"), join(folder, "package.json"));
  await symlink(join(packageFolder, "node_modules"), join(folder, "node_modules"));
  return {
    dist,
    start: (cli: Cli, args: readonly string[], env: NodeJS.ProcessEnv = {}) => {
      const child = spawn(process.execPath, [join(dist, "cli/main.cjs"), ...args], {
        cwd: cli.project,
        env: { ...cli.env, ...env },
        stdio: "pipe",
      });
      onTestFinished(() => void child.kill("SIGKILL"));
      return child;
    },
    remove: () => rm(dist, { recursive: true }),
    /** Installs a build with another id, as if a source file had changed. */
    update: async () => {
      const next = join(folder, "next");
      await cp(join(packageFolder, "dist"), next, { recursive: true, filter: isCode });
      for (const path of await codeFiles(next)) {
        const code = await readFile(path, "utf8");
        await writeFile(path, code.replace(/(const build ?= ?["`])[0-9a-f]{16}/, "$1another"));
      }
      await rm(dist, { recursive: true });
      await rename(next, dist);
    },
  };
}

function isCode(path: string): boolean {
  return !path.endsWith("/types");
}

async function codeFiles(dist: string): Promise<string[]> {
  const entries = await readdir(dist, { recursive: true, withFileTypes: true });
  return entries.filter(({ name }) => /\.c?js$/.test(name)).map(({ parentPath, name }) => join(parentPath, name));
}

const prompt = ["--plain", "--provider", "offline"];

test("a prompt whose package was removed says so, exits with 75, and its conversation is saved", async () => {
  const [cli, installed] = [await Cli.open(), await install()];
  const child = installed.start(cli, prompt);
  child.stdin.write("first\n");
  await saysOn(child.stdout, "I heard: first");
  await installed.remove();
  child.stdin.write("second\n");
  await saysOn(child.stdout, "I heard: second");
  child.stdin.write("/undo\n");
  const { code, stderr } = await finished(child);
  expect(code).toBe(75);
  expect(stderr).toMatch(replaced);
  const [id = ""] = await cli.ids();
  expect(await cli.said(id)).toEqual(["first", "second"]);
});

test("a command that has succeeded does so too if its package was removed meanwhile", async () => {
  const [cli, installed] = [await Cli.open(), await install()];
  const child = installed.start(cli, prompt);
  child.stdin.write("first\n");
  await saysOn(child.stdout, "I heard: first");
  await installed.remove();
  child.stdin.end();
  expect(await finished(child)).toMatchObject({ code: 0, stderr: "" });
});

test("a thread of another build is not used, and the prompt says why", async () => {
  const [cli, installed] = [await Cli.open(), await install()];
  const child = installed.start(cli, prompt);
  child.stdin.write("first\n");
  await saysOn(child.stdout, "I heard: first");
  await installed.update();
  // Summaries are made in a thread that has not been started yet.
  child.stdin.end("/compact\n");
  const { stdout, stderr } = await finished(child);
  expect(stdout + stderr).toContain(unloadable);
  expect(stdout + stderr).toContain("summarize: the thread died: cody was updated");
});

test("the daemon refuses messages that it could not save, because its package was removed", async () => {
  const [cli, installed] = [await Cli.open({ spawned: true }), await install()];
  const env = { XDG_RUNTIME_DIR: await temporaryFolder() };
  const daemon = installed.start(cli, ["daemon", "run"], env);
  const ended = once(daemon, "exit");
  const { id } = JSON.parse((await cli.run(["new", "--json"], { env })).stdout);
  while ((await cli.run(["daemon", "status"], { env })).code !== 0);
  await installed.remove();
  const sent = await cli.run(["send", id, "hello"], { env });
  expect(sent).toMatchObject({ code: 74, stderr: expect.stringContaining(`cannot save conversation ${id}`) });
  expect(sent.stderr).toContain(unloadable);
  await cli.run(["daemon", "stop"], { env });
  await ended;
  expect(await cli.said(id)).toEqual([]);
});

test("a program that uses the library gets an error that says so", async () => {
  const [cli, installed] = [await Cli.open(), await install()];
  const program = join(cli.project, "program.mjs");
  await writeFile(
    program,
    `import { rmSync } from "node:fs";
     import { ConversationManager } from ${JSON.stringify(join(installed.dist, "index.js"))};
     const manager = new ConversationManager({ home: ${JSON.stringify(cli.home)}, threads: 1 });
     rmSync(${JSON.stringify(installed.dist)}, { recursive: true });
     const inThread = await manager.newConversation().catch((error) => error);
     const batch = await manager.runBatch([]).next().catch((error) => error);
     console.log(JSON.stringify([inThread.message, batch.message, batch.code]));
     await manager.shutdown();`,
  );
  const child = spawn(process.execPath, [program], { env: cli.env, stdio: "pipe" });
  const { stdout, stderr } = await finished(child);
  expect(stderr).toBe("");
  const [message, ...others] = JSON.parse(stdout);
  expect(message).toContain(unloadable);
  expect(others).toEqual([expect.stringContaining(unloadable), "CODY_REPLACED"]);
});
