import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { onTestFinished } from "vitest";
import type { MockLlm } from "../../src/mock-llm/server.js";
import { temporaryFolder } from "./temporary-folder.js";

/** A conversation in Codex's own list. */
export interface CodexThread {
  readonly id: string;
  readonly preview: string;
  readonly path: string;
}

export interface CodexResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A real Codex in a temporary home, whose model is a mock server. */
export class Codex {
  readonly home: string;
  /** The working folder, which is not a repository. */
  readonly cwd: string;
  readonly #folder: string;
  readonly #executable = executable();

  private constructor(folder: string) {
    this.#folder = folder;
    this.home = join(folder, "codex");
    this.cwd = join(folder, "project");
  }

  static async open({ url }: MockLlm): Promise<Codex> {
    const codex = new Codex(await temporaryFolder());
    await Promise.all([mkdir(codex.home), mkdir(codex.cwd)]);
    await writeFile(join(codex.home, "config.toml"), configOf(url));
    return codex;
  }

  /** Whether this version locks the rollouts it writes and respects locks of others. */
  async locks(): Promise<boolean> {
    const { stdout } = await this.#run(["--version"]);
    const [, major = "0", minor = "0"] = /(\d+)\.(\d+)\.\d+/.exec(stdout) ?? [];
    return Number(major) > 0 || Number(minor) >= 147;
  }

  /** Runs `codex exec` to its end. */
  exec(...args: readonly string[]): Promise<CodexResult> {
    return this.#run(["exec", "--skip-git-repo-check", ...args]);
  }

  /** Starts `codex exec` and leaves it running. */
  start(...args: readonly string[]): ChildProcessByStdio<Writable, Readable, Readable> {
    return this.#spawn(["exec", "--skip-git-repo-check", ...args]);
  }

  /** The conversations that Codex's own picker would show. */
  async list(): Promise<CodexThread[]> {
    const server = this.#spawn(["app-server"]);
    const answers = createInterface(server.stdout)[Symbol.asyncIterator]();
    const ask = async (id: number, method: string, params: object): Promise<unknown> => {
      server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
      for (;;) {
        const { value, done } = await answers.next();
        if (done === true) throw new Error(`codex app-server ended before it answered ${method}`);
        const message = JSON.parse(value) as { id?: number; result?: unknown };
        if (message.id === id) return message.result;
      }
    };
    const clientInfo = { name: "cody-test", title: "cody-test", version: "0" };
    await ask(1, "initialize", { clientInfo });
    server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", method: "initialized" })}\n`);
    const { data } = (await ask(2, "thread/list", {})) as { data: CodexThread[] };
    server.kill();
    return data;
  }

  async #run(args: readonly string[]): Promise<CodexResult> {
    const child = this.#spawn(args);
    child.stdin.end();
    const texts = { stdout: "", stderr: "" };
    child.stdout.setEncoding("utf8").on("data", (text: string) => (texts.stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (texts.stderr += text));
    const [code] = (await once(child, "close")) as [number | null];
    return { code, ...texts };
  }

  #spawn(args: readonly string[]): ChildProcessByStdio<Writable, Readable, Readable> {
    const child = spawn(this.#executable, args, {
      cwd: this.cwd,
      env: {
        PATH: process.env["PATH"],
        HOME: this.#folder,
        CODEX_HOME: this.home,
        MOCK_KEY: "mock",
        // Makes Codex log the rollout lines it cannot read.
        RUST_LOG: "warn",
        // Blocks network access.
        HTTP_PROXY: "http://127.0.0.1:9",
        HTTPS_PROXY: "http://127.0.0.1:9",
        NO_PROXY: "127.0.0.1",
      },
      stdio: "pipe",
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    return child;
  }
}

function executable(): string {
  const path = process.env["CODY_TEST_CODEX"];
  if (path !== undefined && path !== "") return path;
  throw new Error("CODY_TEST_CODEX must name the executable of a Codex, such as npm install @openai/codex brings");
}

function configOf(url: string): string {
  return `model = "mock-1"
model_provider = "mock"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false

[model_providers.mock]
name = "mock"
base_url = "${url}/v1"
wire_api = "responses"
env_key = "MOCK_KEY"
request_max_retries = 0
stream_max_retries = 0

[analytics]
enabled = false
`;
}
