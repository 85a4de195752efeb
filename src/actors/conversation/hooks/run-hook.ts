import { errorMessage } from "../../../base/error-message.js";
import { isRecord } from "../../../base/is-record.js";
import { jsonOrUndefined } from "../../../base/parse.js";
import { counted } from "../../../base/text/counted.js";
import { shortened } from "../../../base/text/truncate.js";
import { visible } from "../../../base/text/visible.js";
import { within } from "../../../base/time/waiting.js";
import { type HookCommand, type HookInput, HookOutput } from "../../../messages/hooks.js";
import { runCommand } from "../../../tools/exec/run-command.js";
import { failureText } from "../../../tools/files/file-problem.js";

const defaultSeconds = 60;

const maxOutputBytes = 1024 * 1024;

/** Maximum length of a text that a hook writes for the model or the user. */
export const maxTextChars = 10_000;

/** In a warning, a command and its errors are recognized by their beginning. */
const maxShownChars = 200;

/** The exit code by which a command blocks what it was asked about; its stderr has the reason. */
const blockingCode = 2;

/**
 * A hook of the caller: gets the event, the id of the tool call if there is one, and a signal that aborts it. What it
 * returns means the same as the JSON that a command prints.
 */
export type HookFunction = (
  input: HookInput,
  toolUseId: string | undefined,
  options: { readonly signal: AbortSignal },
) => HookOutput | undefined | Promise<HookOutput | undefined>;

/** The result of one hook. A hook that failed has a warning and no effect. */
export type HookResult =
  | { readonly type: "output"; readonly output: HookOutput; readonly text?: string }
  | { readonly type: "blocked"; readonly reason: string }
  | { readonly type: "failed"; readonly warning: string }
  | { readonly type: "aborted" };

interface HookRun {
  readonly input: HookInput;
  readonly env: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** Runs a command with the event on stdin. When this settles, no process of it is alive. */
export async function runHookCommand(
  { command, timeout = defaultSeconds }: HookCommand,
  { input, env, signal }: HookRun,
): Promise<HookResult> {
  const failed = (what: string): HookResult => ({
    type: "failed",
    warning: warningText(input, shownCommand(command), what),
  });
  // More output than this ends the command.
  const excess = new AbortController();
  const output = { stdout: new Collected(excess), stderr: new Collected(excess) };
  try {
    const end = await runCommand({
      argv: ["/bin/sh", "-c", command],
      cwd: input.cwd,
      env,
      input: JSON.stringify(input),
      timeoutMs: timeout * 1000,
      signal: AbortSignal.any([signal, excess.signal]),
      onOutput: (stream, bytes) => output[stream].push(bytes),
    });
    if (signal.aborted || end === undefined) return { type: "aborted" };
    if (excess.signal.aborted) return failed(`wrote more than ${counted(maxOutputBytes, "byte")} and was ended`);
    if (end.cause === "timed_out") return failed(`did not end within ${counted(timeout, "second")} and was ended`);
    const errors = output.stderr.text.trim();
    if (end.exitCode === blockingCode)
      return { type: "blocked", reason: bounded(errors) || "a hook blocked it without a reason" };
    if (end.exitCode === 0) return outputOf(output.stdout.text.trim(), failed);
    const why = errors === "" ? "" : `: ${visible(shortened(errors, maxShownChars))}`;
    return failed(`failed with exit code ${end.exitCode ?? "unknown"}${why}`);
  } catch (error) {
    return failed(`cannot be run: ${failureText(error)}`);
  }
}

/** Calls a function with the event. One that does not settle in time is left behind. */
export async function runHookFunction(
  hook: HookFunction,
  { input, signal }: Omit<HookRun, "env">,
): Promise<HookResult> {
  const failed = (what: string): HookResult => ({
    type: "failed",
    warning: warningText(input, hook.name || "a function", what),
  });
  const late = new AbortController();
  const toolUseId = "tool_use_id" in input ? input.tool_use_id : undefined;
  const running = (async () => await hook(input, toolUseId, { signal: AbortSignal.any([signal, late.signal]) }))();
  if (!(await within(running, defaultSeconds * 1000, signal))) {
    late.abort();
    running.catch(() => undefined);
    return signal.aborted ? { type: "aborted" } : failed(`did not return within ${counted(defaultSeconds, "second")}`);
  }
  try {
    const parsed = HookOutput.safeParse((await running) ?? {});
    return parsed.success
      ? { type: "output", output: parsed.data }
      : failed("returned something else than a hook's output");
  } catch (error) {
    return signal.aborted
      ? { type: "aborted" }
      : failed(`failed: ${visible(shortened(errorMessage(error), maxShownChars))}`);
  }
}

/** Text that is no JSON object is an output too: for some events it is context for the model. */
function outputOf(text: string, failed: (what: string) => HookResult): HookResult {
  if (!text.startsWith("{")) return { type: "output", output: {}, text };
  const value = jsonOrUndefined(text);
  if (!isRecord(value)) return failed("wrote invalid JSON");
  const { data, error } = HookOutput.safeParse(value);
  if (data !== undefined) return { type: "output", output: data };
  return failed(`wrote JSON with an invalid ${error.issues[0]?.path.map(String).join(".") ?? "field"}`);
}

/** A text that a hook wrote, cut to the length that is passed on. */
export function bounded(text: string): string {
  return shortened(text.trim(), maxTextChars);
}

function warningText({ hook_event_name: event }: HookInput, hook: string, what: string): string {
  return `A ${event} hook ${what}, so it had no effect: ${hook}`;
}

function shownCommand(command: string): string {
  return visible(shortened(command, maxShownChars));
}

/** The output of a command, up to a bound that ends the command. */
class Collected {
  readonly #excess: AbortController;
  readonly #pieces: Buffer[] = [];
  #bytes = 0;

  constructor(excess: AbortController) {
    this.#excess = excess;
  }

  push(bytes: Buffer): void {
    this.#bytes += bytes.length;
    if (this.#bytes > maxOutputBytes) this.#excess.abort();
    else this.#pieces.push(bytes);
  }

  get text(): string {
    return Buffer.concat(this.#pieces).toString();
  }
}
