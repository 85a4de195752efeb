import { execFile } from "node:child_process";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";
import { onTestFinished } from "vitest";
import { type Cli, commandOf } from "./cli.js";

const runFile = promisify(execFile);
const pollMs = 50;
const patienceMs = 20_000;
const rows = 40;
let servers = 0;
const ended = /^It ended with (\d+)$/m;
/** Printed by a shell, because `pane_dead_status` sometimes stays empty; seen with tmux 3.3a. */
const tellingCode = 'echo "It ended with $?"; exec sleep 1000';

export interface TmuxOptions {
  readonly columns?: number;
  /** What the offline model does in the middle of its answer, as for `Cli`. */
  readonly middle?: "hold";
  /** A file that stdout is redirected to. */
  readonly stdoutTo?: string;
  /** Another program that runs instead of cody. */
  readonly program?: readonly string[];
}

/** `cody` in a real terminal: a separate tmux server, which is stopped when the test ends. */
export class TmuxScreen {
  readonly #socket: string;
  readonly #env: NodeJS.ProcessEnv;

  private constructor(cli: Cli) {
    this.#socket = join(cli.project, `tmux-${++servers}`);
    this.#env = { ...cli.env, LANG: "C.UTF-8", TERM: "xterm-256color" };
  }

  static async open(cli: Cli, args: readonly string[] = [], options: TmuxOptions = {}): Promise<TmuxScreen> {
    const screen = new TmuxScreen(cli);
    onTestFinished(async () => {
      await screen.#tmux("kill-server");
    });
    const size = ["-x", String(options.columns ?? 80), "-y", String(rows)];
    const script = `"$@"${options.stdoutTo === undefined ? "" : ` > '${options.stdoutTo}'`}; ${tellingCode}`;
    const command = ["sh", "-c", script, "sh", ...(options.program ?? commandOf(args, options.middle))];
    await screen.#tmux("new-session", "-d", ...size, "-c", cli.project, ...command);
    return screen;
  }

  /** Types a text without pressing Enter. */
  async type(text: string): Promise<void> {
    await this.#tmux("send-keys", "-l", "--", text);
  }

  /** Presses keys by their tmux names: `Enter`, `C-c`. */
  async press(...keys: string[]): Promise<void> {
    await this.#tmux("send-keys", ...keys);
  }

  async enter(line: string): Promise<void> {
    await this.type(line);
    await this.press("Enter");
  }

  /** The screen and its scrollback; wrapped lines are joined. */
  async text(): Promise<string> {
    return await this.#tmux("capture-pane", "-p", "-J", "-S", "-");
  }

  /** The visible screen, line by line. */
  async lines(): Promise<string[]> {
    return (await this.#tmux("capture-pane", "-p")).trimEnd().split("\n");
  }

  async shows(text: string): Promise<void> {
    await this.#until(`shows ${JSON.stringify(text)}`, async () => (await this.text()).includes(text));
  }

  /** Resolves when the screen ends with an empty prompt. */
  async prompts(): Promise<void> {
    await this.#until("prompts", async () => /\n›\s*$/.test(await this.text()));
  }

  async kill(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    const shell = await this.#tmux("display-message", "-p", "#{pane_pid}");
    const { stdout } = await runFile("pgrep", ["-P", shell.trim()]);
    process.kill(Number(stdout), signal);
  }

  /** Resolves with the exit code as a shell reports it. */
  async ends(): Promise<number> {
    let code: string | undefined;
    await this.#until("ends", async () => {
      code = ended.exec(await this.text())?.[1];
      return code !== undefined;
    });
    return Number(code);
  }

  async #until(what: string, isSo: () => Promise<boolean>): Promise<void> {
    const end = Date.now() + patienceMs;
    while (!(await isSo())) {
      if (Date.now() > end) throw new Error(`the terminal never ${what}:\n${await this.text()}`);
      await setTimeout(pollMs);
    }
  }

  async #tmux(...args: string[]): Promise<string> {
    const { stdout } = await runFile("tmux", ["-u", "-S", this.#socket, "-f", "/dev/null", ...args], {
      env: this.#env,
    });
    return stdout;
  }
}
