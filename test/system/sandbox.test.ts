import { execFile, spawn } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { chmod, chown, link, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo, type ListenOptions } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { ControlServer } from "../../src/control/control-server.js";
import { findControlSockets } from "../../src/control/control-sockets.js";
import { Sandboxes } from "../../src/sandbox/sandboxes.js";
import { type CommandResult, runCommand } from "../../src/tools/exec/run-command.js";
import { commandLinesWith } from "../support/processes.js";

const execute = promisify(execFile);
const cody = fileURLToPath(new URL("../../dist/cli/main.cjs", import.meta.url));
const probeSource = fileURLToPath(new URL("sandbox-probe.c", import.meta.url));
const canary = "canary-5f2c1b";

const users = { root: 0, nobody: 65_534 } as const;

/** A home and a workspace of a user, with secrets in both. */
class Place {
  readonly uid: number;
  readonly folder: string;
  readonly workspace: string;
  readonly env: Readonly<Record<string, string>>;

  private constructor(uid: number, folder: string) {
    this.uid = uid;
    this.folder = folder;
    this.workspace = join(folder, "workspace");
    const bin = dirname(process.execPath);
    this.env = {
      PATH: `${bin}:/usr/local/bin:/usr/bin:/bin`,
      HOME: folder,
      CODY_HOME: join(folder, ".cody"),
      SECRET_KEY: canary,
      GIT_CONFIG_GLOBAL: "/dev/null",
    };
  }

  static async open(user: keyof typeof users): Promise<Place> {
    // Not in /tmp, which is another folder in the sandbox.
    const folder = await mkdtemp("/var/lib/cody-system-");
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const place = new Place(users[user], folder);
    await mkdir(place.workspace);
    return place;
  }

  async put(path: string, text = canary): Promise<string> {
    const whole = join(this.folder, path);
    await mkdir(dirname(whole), { recursive: true });
    await writeFile(whole, text);
    return whole;
  }

  /** Gives everything to the user. */
  async handOver(): Promise<void> {
    for (const name of ["", ...(await readdir(this.folder, { recursive: true }))]) {
      await chown(join(this.folder, name), this.uid, this.uid).catch(() => undefined);
    }
  }

  /** Runs a script in the sandbox, as the user. */
  async run(script: string, env: Readonly<Record<string, string>> = {}) {
    const options = { cwd: this.workspace, env: { ...this.env, ...env }, uid: this.uid, gid: this.uid };
    const argv = [cody, "sandbox", "run", "--", "sh", "-c", script];
    return await execute(process.execPath, argv, options).then(
      ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
      ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({ code, stdout, stderr }),
    );
  }

  async git(...args: string[]): Promise<void> {
    const who = [
      "-c",
      "user.name=a",
      "-c",
      "user.email=a@b",
      "-c",
      "init.defaultBranch=main",
      "-c",
      "safe.directory=*",
    ];
    await execute("git", [...who, ...args], { cwd: this.workspace, env: this.env });
  }
}

/** A script that waits for a file. */
function until(name: string): string {
  return `for i in $(seq 2000); do [ -e ${name} ] && break; sleep 0.01; done`;
}

let probe: string;

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), "cody-probe-"));
  await chmod(folder, 0o755);
  probe = join(folder, "probe");
  await execute("cc", ["-o", probe, probeSource]);
  return () => rm(folder, { recursive: true, force: true });
});

describe.each(["root", "nobody"] as const)("as %s", (user) => {
  test("no secret can be read", async () => {
    const place = await Place.open(user);
    const secrets = [
      [".ssh/id_ed25519", ".aws/credentials", ".netrc", ".npmrc", ".bash_history", ".config/gh/hosts.yml"],
      [".gnupg/key", ".git-credentials", ".mozilla/cookies", ".config/google-chrome/Cookies", ".kube/config"],
      [".cody/tokens.json", ".cody/conversations/a.jsonl", ".codex/auth.json", ".codex/sessions/a.jsonl"],
      [".claude/.credentials.json", "workspace/.env", "workspace/deep/er/.env.local", "workspace/key.pem"],
      "workspace/id_rsa",
    ].flat();
    const paths = await Promise.all(secrets.map((path) => place.put(path)));
    await symlink(join(place.folder, ".ssh/id_ed25519"), join(place.workspace, "link"));
    await link(join(place.folder, ".netrc"), join(place.workspace, "deep/er/hard-link"));
    await place.handOver();
    const all = [...paths, "link", "deep/er/hard-link", "/etc/shadow", "/etc/gshadow"].join(" ");
    const { stdout, stderr } = await place.run(
      `cat ${all}; env; cat /proc/[0-9]*/environ; grep -r ${canary} ${place.folder}`,
    );
    expect(stdout).not.toContain(canary);
    expect(stderr).not.toContain(canary);
    expect(stdout).not.toMatch(/^root:[^:]*:\d*:/m);
  });

  test("a commit keeps the content of tracked files that are named like secrets", async () => {
    const place = await Place.open(user);
    await place.git("init", "-q");
    await place.put("workspace/.npmrc", "registry=x\n");
    await place.put("workspace/certs/test.pem", "public\n");
    await place.put("workspace/certs/own.pem", "public\n");
    await place.put("workspace/.gitignore", ".env\n");
    await place.put("workspace/.env");
    await place.git("add", "-A");
    await place.git("commit", "-qm", "one");
    await place.put("workspace/certs/own.pem");
    await place.handOver();
    const commit = "git -c user.name=a -c user.email=a@b commit -qm two";
    const { stdout } = await place.run(
      `cat .npmrc; echo a > a; git add -A && echo all; git add a && ${commit}; git add -f .env; cat .env certs/own.pem`,
    );
    expect(stdout).toBe("registry=x\n");
    expect((await place.run("cat .env certs/own.pem; git show --stat --format= HEAD")).stdout).toMatch(/^ a \| 1 \+\n/);
  });

  test("nothing outside can be written, and nothing that other programs obey", async () => {
    const place = await Place.open(user);
    await place.git("init", "-q");
    await place.put("outside", "before");
    await place.put(".bashrc", "before");
    await place.handOver();
    const attempts = [
      ["touch /etc/cody-x", "touch ../x", "echo x > ../outside", "echo x >> ../.bashrc", "mkdir ../.cody/x"],
      ["touch /var/lib/cody-x", "touch /usr/local/bin/cody-x", "ln -s / ../l", "touch .git/hooks/pre-commit"],
      [
        "echo x >> .git/config",
        "git config core.fsmonitor true",
        "echo x > .git/commondir",
        "mv .git g",
        "rm -rf .git/hooks",
      ],
      [
        "mkdir .git/hooks/d",
        "mkdir -p .cody/d",
        "rmdir .cody",
        "echo x > AGENTS.md",
        "rmdir AGENTS.md",
        "mv AGENTS.md a",
      ],
      ["echo x > CLAUDE.md", "echo x > AGENTS.override.md", "mount -t tmpfs none /etc", "mount -o remount,rw /"],
      ["mount -o bind,remount,rw .git/hooks", "umount .git/hooks", "echo core > /proc/sys/kernel/core_pattern"],
      ["echo s > /proc/sysrq-trigger", "echo 1 > /proc/sys/vm/drop_caches", "echo 0 > /proc/self/oom_score_adj"],
      ["echo h > /proc/sysrq-trigger", "echo 0 > /proc/sys/net/ipv4/ip_forward", "echo 0 > /proc/self/oom_score_adj"],
      ["mknod dev b 8 0 && cat dev", "chroot / true", "kill -9 1", "nsenter -t 1 -m true"],
    ].flat();
    const script = attempts
      .map((attempt, index) => `( ${attempt} ) >/dev/null 2>&1 && echo "done ${index}"`)
      .join("\n");
    const { stdout } = await place.run(`${script}\ntrue`);
    // Signals to the sandbox's first process are accepted and have no effect.
    const done = stdout.split("\n").flatMap((line) => attempts[Number(/^done (\d+)$/.exec(line)?.[1])] ?? []);
    expect(done.filter((attempt) => attempt !== "kill -9 1")).toEqual([]);
    expect(await readFile(join(place.folder, "outside"), "utf8")).toBe("before");
    expect((await readdir(place.workspace)).toSorted()).toEqual([".git"]);
    expect(await readdir(join(place.workspace, ".git"))).not.toContain("commondir");
  });

  test.each(["a repository", "no repository"])(
    "what is protected stays so if another command in %s ends",
    async (where) => {
      const place = await Place.open(user);
      if (where === "a repository") await place.git("init", "-q");
      await place.handOver();
      const before = [await readdir(place.workspace), await readdir(join(place.workspace, ".git")).catch(() => [])];
      const first = place.run(`touch first; ${until("second")}`);
      await expect.poll(() => readdir(place.workspace), { timeout: 20_000 }).toContain("first");
      const attempts = [
        ["mkdir .cody", "mkdir .cody/x", "rmdir .cody", "mkdir AGENTS.md", "rmdir AGENTS.md", "echo x > CLAUDE.md"],
        [
          "mkdir .git",
          "rmdir .git",
          "mkdir -p .git/hooks/x",
          "echo x > .git/config.worktree",
          "echo x > .git/commondir",
        ],
        ["echo x >> .git/config", "rm .git/commondir", "git config core.fsmonitor true"],
      ].flat();
      const tried = attempts.map((attempt) => `( ${attempt} ) >/dev/null 2>&1 && echo '${attempt}'`);
      const second = place.run(`touch second; ${until("over")}; ${tried.join("; ")}; true`);
      await first;
      await writeFile(join(place.workspace, "over"), "");
      const { stdout } = await second;
      expect(stdout).toBe("");
      await Promise.all(["first", "second", "over"].map((name) => rm(join(place.workspace, name))));
      expect([await readdir(place.workspace), await readdir(join(place.workspace, ".git")).catch(() => [])]).toEqual(
        before,
      );
    },
  );

  test("no connection leaves the sandbox, and no process is traced", async () => {
    const place = await Place.open(user);
    await place.handOver();
    let connections = 0;
    const listen = async (where: ListenOptions): Promise<AddressInfo | string | null> => {
      const server = createServer(() => (connections += 1)).listen(where);
      onTestFinished(() => void server.close());
      await once(server, "listening");
      return server.address();
    };
    const tcp = (await listen({ port: 0, host: "127.0.0.1" })) as AddressInfo;
    const socket = join(place.workspace, "socket");
    await listen({ path: socket });
    await chmod(socket, 0o777);
    const name = `cody-test-${process.pid}-${user}`;
    await listen({ path: `\0${name}` });
    const datagrams = createSocket("udp4", () => (connections += 1)).bind(0, "127.0.0.1");
    onTestFinished(() => void datagrams.close());
    await once(datagrams, "listening");
    const script = `${probe} ${tcp.port} ${datagrams.address().port} ${socket} ${name}`;
    // The probe is in a temporary folder, which is hidden unless it is on PATH.
    const env = { PATH: `${dirname(probe)}:${place.env["PATH"]}` };
    const { stdout } = await place.run(script, env);
    const succeeded = stdout.split("\n").filter((line) => line.endsWith(" ok"));
    expect(succeeded).toEqual(["socketpair ok"]);
    expect(stdout.split("\n").length).toBeGreaterThan(15);
    const open = await place.run(script, { ...env, CODY_SANDBOX_UNIX_SOCKETS: "workspace" });
    // A socket of the workspace may be used then; an abstract one belongs to the network, which is off.
    expect(open.stdout.split("\n").filter((line) => line.endsWith(" ok"))).toEqual(["unix ok", "socketpair ok"]);
    await expect.poll(() => connections, { timeout: 20_000 }).toBe(1);
  });

  test("daemons end with their command", async () => {
    const place = await Place.open(user);
    await place.handOver();
    const token = `71${process.pid}${users[user]}`;
    const { stdout } = await place.run(
      `setsid sleep 1${token} & (setsid setsid sleep 2${token} >/dev/null 2>&1 &) & nohup sleep 3${token} >/dev/null 2>&1 & sleep 0.1; echo started`,
    );
    expect(stdout).toBe("started\n");
    await expect.poll(() => commandLinesWith(token), { timeout: 20_000 }).toEqual([]);
  });

  test("ordinary work in a repository needs nothing more", async () => {
    const place = await Place.open(user);
    await place.git("init", "-q");
    await place.git("config", "user.name", "a");
    await place.git("config", "user.email", "a@b");
    await place.handOver();
    const { code, stdout, stderr } = await place.run(`
      set -e
      mkdir src; echo 'console.log("hi")' > src/a.js; node src/a.js
      git add -A; git commit -qm one; git checkout -qb work; sed -i s/hi/ho/ src/a.js; git diff --stat
      git commit -qam two; git stash list; git log --oneline | wc -l; git status --short
      node -e 'require("child_process").execSync("node src/a.js", { stdio: "inherit" })'
      echo x > "$TMPDIR/y"; cat /tmp/y
      node -e 'const s = require("net").createServer((c) => c.end("loopback\\n")).listen(0, () =>
        require("net").connect(s.address().port).pipe(process.stdout).on("unpipe", () => s.close()))'
    `);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("ho\n");
    expect(stdout).toContain("loopback\n");
    const files = await execute("git", ["-c", "safe.directory=*", "ls-tree", "-r", "--name-only", "HEAD"], {
      cwd: place.workspace,
    });
    expect(files.stdout).toBe("src/a.js\n");
  });
});

test("a secret cannot be moved to where the next command would not look for it", async () => {
  const place = await Place.open("root");
  await place.put("workspace/deep/er/.env");
  const homes = { home: place.env["CODY_HOME"] ?? "", codexHome: undefined, claudeHome: undefined };
  const sandboxes = new Sandboxes({ homes, config: {}, env: place.env });
  onTestFinished(() => sandboxes.close());
  const { sandbox } = await sandboxes.open({ conversationId: "c", cwd: place.workspace, sandbox: "workspace-write" });
  const output: string[] = [];
  const play = (script: string) =>
    runCommand({
      argv: ["sh", "-c", script],
      cwd: place.workspace,
      env: place.env,
      timeoutMs: 60_000,
      signal: new AbortController().signal,
      sandbox,
      onOutput: (_, bytes) => output.push(bytes.toString()),
    });
  await play("mv deep shallow; mv deep/er deep/x; mkdir -p node_modules; mv deep node_modules; rm -rf deep");
  await play(`ls -a .; grep -r . deep shallow node_modules; cat deep/er/.env deep/x/.env`);
  expect(output.join("")).not.toContain(canary);
  expect(await readFile(join(place.workspace, "deep/er/.env"), "utf8")).toBe(canary);
});

test("no control socket can be reached, even where unix sockets are permitted", async () => {
  const place = await Place.open("root");
  const env = { XDG_RUNTIME_DIR: join(place.folder, "run"), CODY_SANDBOX_UNIX_SOCKETS: "workspace" };
  await mkdir(env.XDG_RUNTIME_DIR, { mode: 0o700 });
  const conversations = { all: () => [], get: () => undefined };
  const options = { kind: "library", home: place.folder, env, conversations, now: Date.now } as const;
  const server = await ControlServer.start(options);
  onTestFinished(() => server.close());
  const [path = ""] = await findControlSockets(env);
  const connect = `require("net").connect(${JSON.stringify(path)}, () => console.log("connected")).on("error", console.log)`;
  const { stdout } = await place.run(`find ${env.XDG_RUNTIME_DIR}; node -e '${connect}'`, env);
  expect(stdout).toMatch(new RegExp(`^${env.XDG_RUNTIME_DIR}\n[^]*ENOENT`));
});

test("root in the folder of another user is told that it cannot write there", async () => {
  const place = await Place.open("nobody");
  await place.handOver();
  const { stdout } = await execute(process.execPath, [cody, "sandbox"], { cwd: place.workspace, env: place.env });
  expect(stdout).toContain("the working folder belongs to user 65534, so commands that run as root cannot write to it");
});

const runsOfEach = Number(process.env["CODY_SANDBOX_RUNS"] ?? 500) / 5;

test(
  `after ${5 * runsOfEach} runs that ended in five ways, no process and no placeholder is left`,
  { timeout: 900_000 },
  async () => {
    const place = await Place.open("root");
    await place.git("init", "-q");
    const before = [await readdir(place.workspace), await readdir(join(place.workspace, ".git"))];
    const token = `83${process.pid}`;
    const script = `setsid sleep 1${token} & sleep 2${token} >/dev/null 2>&1 & echo ready`;
    const homes = { home: place.env["CODY_HOME"] ?? "", codexHome: undefined, claudeHome: undefined };
    const sandboxes = new Sandboxes({ homes, config: {}, env: place.env });
    const { sandbox } = await sandboxes.open({ conversationId: "c", cwd: place.workspace, sandbox: "workspace-write" });
    if (sandbox === undefined) throw new Error("no sandbox");

    const inProcess = async (
      end: string,
      options: { timeoutMs?: number; onReady?: (controller: AbortController) => void },
    ) => {
      const controller = new AbortController();
      return await runCommand({
        argv: ["sh", "-c", `${script}; ${end}`],
        cwd: place.workspace,
        env: place.env,
        timeoutMs: options.timeoutMs ?? 60_000,
        signal: controller.signal,
        sandbox,
        onOutput: () => options.onReady?.(controller),
      });
    };
    const killProgram = async () => {
      const { stdout } = await execute("pgrep", ["-P", String(process.pid), "-f", `sleep 2${token}`]).catch(() => ({
        stdout: "",
      }));
      for (const pid of stdout.split("\n").filter(Boolean)) process.kill(Number(pid), "SIGKILL");
    };
    const ways: Readonly<Record<string, () => Promise<CommandResult | undefined | void>>> = {
      exit: () => inProcess("exit 3", {}),
      timeout: () => inProcess("wait", { timeoutMs: 50 }),
      interrupt: () => inProcess("wait", { onReady: (controller) => controller.abort() }),
      "bubblewrap killed": () => inProcess("wait", { onReady: () => void killProgram() }),
      "cody killed": async () => {
        const argv = [cody, "sandbox", "run", "--", "sh", "-c", `${script}; wait`];
        const child = spawn(process.execPath, argv, {
          cwd: place.workspace,
          env: place.env,
          stdio: ["ignore", "pipe", "ignore"],
        });
        await Promise.race([once(child.stdout, "data"), once(child, "exit")]);
        child.kill("SIGKILL");
        await once(child, "close");
      },
    };
    for (let run = 0; run < runsOfEach; run += 1) {
      for (const way of Object.values(ways)) await way();
    }
    await sandboxes.close();
    await expect.poll(() => commandLinesWith(token), { timeout: 20_000 }).toEqual([]);
    expect((await place.run("true")).code).toBe(0);
    expect([await readdir(place.workspace), await readdir(join(place.workspace, ".git"))]).toEqual(before);
    expect(await readdir(join(homes.home, "sandbox"))).toEqual(["empty", "unreadable"]);
  },
);
