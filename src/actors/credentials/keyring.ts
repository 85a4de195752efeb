import { execFile } from "node:child_process";
import { FailureError } from "../../messages/failure.js";

type Env = Readonly<NodeJS.ProcessEnv>;

/** A person may have to unlock it first. */
const deadlineMs = 60_000;
const maxBytes = 64 * 1024;
const service = "cody";
/** What the program needs to find the keyring of this user, and nothing else. */
const passedOn = ["PATH", "HOME", "USER", "LOGNAME", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY"];
const passedOnToo = ["DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "LANG"];

/** The keyring of the operating system, through the program that comes with it. Secrets go through pipes only. */
export class Keyring {
  readonly #env: Env;
  readonly #platform: NodeJS.Platform;

  constructor(env: Env, platform: NodeJS.Platform = process.platform) {
    const names = [...passedOn, ...passedOnToo];
    this.#env = Object.fromEntries(names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
    this.#platform = platform;
  }

  /** The key of a provider; undefined when there is none, or no keyring. */
  async key(provider: string): Promise<string | undefined> {
    return this.#platform === "darwin"
      ? await this.#word("security", ["find-generic-password", "-s", service, "-a", provider, "-w"])
      : await this.#word("secret-tool", ["lookup", "service", service, "account", provider]);
  }

  /** What Claude Code keeps where it has a keychain; elsewhere it has a file. */
  async claudeCredentials(): Promise<string | undefined> {
    if (this.#platform !== "darwin") return undefined;
    return await this.#word("security", ["find-generic-password", "-s", "Claude Code-credentials", "-w"]);
  }

  async keep(provider: string, key: string): Promise<void> {
    // An argument could be read by everybody in the list of processes.
    const [program, args, input] =
      this.#platform === "darwin"
        ? ["security", ["-i"], `add-generic-password -U -s ${service} -a ${provider} -w ${quoted(key)}\n`]
        : ["secret-tool", ["store", "--label", `cody: ${provider}`, "service", service, "account", provider], key];
    const { ok } = await this.#run(program, args, input);
    if (ok) return;
    const message = `the keyring cannot be used: ${program} is not there, or failed`;
    throw new FailureError({ code: "unsupported", message, retryable: false });
  }

  async #word(program: string, args: readonly string[]): Promise<string | undefined> {
    const { ok, text } = await this.#run(program, args, "");
    return ok && text.trim() !== "" ? text.trim() : undefined;
  }

  /** Its own words are not passed on: they may quote what it was given. */
  #run(program: string, args: readonly string[], input: string): Promise<{ ok: boolean; text: string }> {
    return new Promise((resolve) => {
      const options = { env: this.#env, timeout: deadlineMs, maxBuffer: maxBytes, killSignal: "SIGKILL" } as const;
      const child = execFile(program, args, options, (error, stdout) => resolve({ ok: error === null, text: stdout }));
      child.stdin?.on("error", () => undefined);
      child.stdin?.end(input);
    });
  }
}

/** For the one line `security` reads; keys have visible characters only. */
function quoted(key: string): string {
  return `"${key.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}
