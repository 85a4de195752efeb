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
  readonly env?: Readonly<Record<string, string>>;
}

/** `cody` in a real terminal: a separate tmux server, which is stopped when the test ends. */
export class TmuxScreen {
  readonly #socket: string;
  readonly #env: NodeJS.ProcessEnv;

  private constructor(cli: Cli, env: TmuxOptions["env"]) {
    this.#socket = join(cli.project, `tmux-${++servers}`);
    this.#env = { ...cli.env, LANG: "C.UTF-8", TERM: "xterm-256color", ...env };
  }

  static async open(cli: Cli, args: readonly string[] = [], options: TmuxOptions = {}): Promise<TmuxScreen> {
    const screen = new TmuxScreen(cli, options.env);
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
    await this.#until("prompts", async () => /\n[›>]\s*$/.test(await this.text()));
  }

  async resize(columns: number, height: number): Promise<void> {
    await this.#tmux("resize-window", "-x", String(columns), "-y", String(height));
  }

  /** Kills the program; with `depth` 2, one that the program has started. */
  async kill(signal: NodeJS.Signals = "SIGKILL", depth = 1): Promise<void> {
    let pid = await this.#pane("pane_pid");
    for (let level = 0; level < depth; level += 1) pid = (await runFile("pgrep", ["-P", pid])).stdout.trim();
    process.kill(Number(pid), signal);
  }

  /** Resolves when the terminal shows its alternate screen. */
  async alternates(): Promise<void> {
    await this.#until("shows its alternate screen", () => this.isAlternate());
  }

  async isAlternate(): Promise<boolean> {
    return (await this.#pane("alternate_on")) === "1";
  }

  /** Whether the terminal echoes keys and collects lines itself, as it does for programs that are not interactive. */
  async isCooked(): Promise<boolean> {
    const { stdout } = await runFile("stty", ["-a", "-F", await this.#pane("pane_tty")]);
    return / echo[ ;]/.test(stdout) && / icanon[ ;]/.test(stdout);
  }

  async hasCursor(): Promise<boolean> {
    return (await this.#pane("cursor_flag")) === "1";
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

  async #pane(variable: string): Promise<string> {
    return (await this.#tmux("display-message", "-p", `#{${variable}}`)).trim();
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
