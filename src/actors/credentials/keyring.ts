import { execFile } from "node:child_process";
import { FailureError } from "../../messages/failure-error.js";

type Env = Readonly<NodeJS.ProcessEnv>;

/** Long enough for a person to unlock the keyring. */
const deadlineMs = 60_000;
const maxBytes = 64 * 1024;
const service = "cody";
/** The only environment variables passed to the keyring program, which needs them to find the user's keyring. */
const passedVariables = ["PATH", "HOME", "USER", "LOGNAME", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY"];
const passedSessionVariables = ["DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "LANG"];

/** Accesses the operating system's keyring through its command-line program. Secrets are passed through pipes only. */
export class Keyring {
  readonly #env: Env;
  readonly #platform: NodeJS.Platform;

  constructor(env: Env, platform: NodeJS.Platform = process.platform) {
    const names = [...passedVariables, ...passedSessionVariables];
    this.#env = Object.fromEntries(names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
    this.#platform = platform;
  }

  /** Returns a provider's key; undefined when there is no such key or no keyring. */
  async key(provider: string): Promise<string | undefined> {
    return this.#platform === "darwin"
      ? await this.#output("security", ["find-generic-password", "-s", service, "-a", provider, "-w"])
      : await this.#output("secret-tool", ["lookup", "service", service, "account", provider]);
  }

  /** Returns Claude Code's credentials from the macOS keychain; on other systems Claude Code uses a file. */
  async claudeCredentials(): Promise<string | undefined> {
    if (this.#platform !== "darwin") return undefined;
    return await this.#output("security", ["find-generic-password", "-s", "Claude Code-credentials", "-w"]);
  }

  async keep(provider: string, key: string): Promise<void> {
    // The key is not passed as an argument, because any user can read those in the process list.
    const [program, args, input] =
      this.#platform === "darwin"
        ? ["security", ["-i"], `add-generic-password -U -s ${service} -a ${provider} -w ${quoted(key)}\n`]
        : ["secret-tool", ["store", "--label", `cody: ${provider}`, "service", service, "account", provider], key];
    const { ok } = await this.#run(program, args, input);
    if (ok) return;
    const message = `cannot use the keyring: ${program} is not installed or failed`;
    throw new FailureError({ code: "unsupported", message, retryable: false });
  }

  async #output(program: string, args: readonly string[]): Promise<string | undefined> {
    const { ok, text } = await this.#run(program, args, "");
    return ok && text.trim() !== "" ? text.trim() : undefined;
  }

  /** The program's error output is discarded, because it may quote the secret. */
  #run(program: string, args: readonly string[], input: string): Promise<{ ok: boolean; text: string }> {
    return new Promise((resolve) => {
      const options = { env: this.#env, timeout: deadlineMs, maxBuffer: maxBytes, killSignal: "SIGKILL" } as const;
      const child = execFile(program, args, options, (error, stdout) => resolve({ ok: error === null, text: stdout }));
      child.stdin?.on("error", () => undefined);
      child.stdin?.end(input);
    });
  }
}

/** Quotes a key for the one input line that `security` reads; keys contain only visible characters. */
function quoted(key: string): string {
  return `"${key.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}
