import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { open, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { makeDirectory } from "../../../base/fs/make-directory.js";
import { isRecord } from "../../../base/is-record.js";
import { jsonOrUndefined } from "../../../base/parse.js";
import { hasProcessEnded } from "../../../base/process/process-state.js";
import { counted } from "../../../base/text/counted.js";
import { visible } from "../../../base/text/visible.js";
import { withFileLock } from "../../../config/file-lock.js";
import { homePaths } from "../../../config/paths.js";
import { ControlServer } from "../../../control/control-server.js";
import { version } from "../../../version.js";
import { CommandError, exitCodes, usageError } from "../../command-error.js";
import { type ContextOf, currentTime, printResult } from "../../context.js";
import { type RunningProcess, RunningProcesses } from "../../conversations/running.js";
import { watchSignals } from "../../terminal/interruption.js";
import { DaemonConversations } from "./daemon-conversations.js";
import { shortAge } from "./ps.js";

const startMs = 20_000;
/** Longer than a conversation may take to end its turn and save. */
const stopMs = 30_000;
const pollMs = 100;

const maxLines = 200;

/** A timer of this length keeps the process alive. */
const longMs = 2 ** 30;

type Context = ContextOf<"daemon">;

export async function daemonCommand(context: Context): Promise<number> {
  const [action = "status", ...others] = context.args;
  const run = Object.hasOwn(actions, action) ? actions[action as keyof typeof actions] : undefined;
  if (run !== undefined && others.length === 0) return await run(context);
  throw usageError(`daemon ${context.args.join(" ")}: expected start, status, stop, logs or unit`);
}

const actions = {
  start,
  status,
  stop,
  logs,
  unit,
  /** Runs until a signal or `stop`; `start` and the systemd unit run this command. */
  run: runDaemon,
};

async function start(context: Context): Promise<number> {
  const { terminal, home } = context;
  using before = await RunningProcesses.connect(context);
  const running = before.daemon;
  if (running !== undefined) return await report(context, running, "already running");
  const { logs: logFolder } = homePaths(home);
  await makeDirectory(logFolder);
  const errors = join(logFolder, "daemon-start.log");
  const file = await open(errors, "w", 0o600);
  try {
    const [program, ...args] = programOf(context);
    const child = spawn(program, [...args, "daemon", "run", "--home", home], {
      cwd: home,
      env: terminal.env,
      detached: true,
      stdio: ["ignore", "ignore", file.fd],
    });
    child.unref();
    return await report(context, await started(context, child, errors), "started");
  } finally {
    await file.close();
  }
}

/** Resolves when the daemon answers, also if another process has just started one. */
async function started(context: Context, child: ChildProcess, errors: string): Promise<RunningProcess> {
  let hasEnded = false;
  void once(child, "exit").then(
    () => (hasEnded = true),
    () => (hasEnded = true),
  );
  for (let waited = 0; waited < startMs; waited += pollMs) {
    // Read before connecting: if the child ended because another daemon runs, that one is found first.
    const isOver = hasEnded;
    const running = await RunningProcesses.connect(context);
    const daemon = running.daemon;
    running[Symbol.dispose]();
    if (daemon !== undefined) return daemon;
    if (isOver) break;
    await setTimeout(pollMs);
  }
  const text = (await readFile(errors, "utf8").catch(() => "")).trim();
  throw new CommandError(
    "The daemon did not start",
    exitCodes.failed,
    text === "" ? [] : text.split("\n").map(visible),
  );
}

async function status(context: Context): Promise<number> {
  using running = await RunningProcesses.connect(context);
  const daemon = running.daemon;
  for (const problem of running.problems) await context.tell(`Not asked: ${problem}`);
  if (daemon !== undefined) return await report(context, daemon, "running");
  await printResult(context, { text: "The daemon is not running.", json: { running: false } });
  return exitCodes.failed;
}

async function report(
  context: Context,
  { client: { welcome }, conversations }: RunningProcess,
  what: string,
): Promise<number> {
  const age = shortAge(currentTime(context) - welcome.started_at);
  const count = counted(conversations.length, "conversation");
  const text = `The daemon is ${what}: pid ${welcome.pid}, cody ${visible(welcome.version)}, for ${age}, ${count}`;
  const { pid, version: theirs, started_at } = welcome;
  const json = { running: true, pid, version: theirs, started_at, conversations: conversations.length };
  await printResult(context, { text, json });
  if (theirs !== version) {
    await context.tell(`This is cody ${version}. To restart the daemon with it: cody daemon stop; cody daemon start`);
  }
  return 0;
}

async function stop(context: Context): Promise<number> {
  const pid = await askToStop(context);
  if (pid !== undefined) {
    // Its socket closes first; then it saves and writes its last lines.
    for (let waited = 0; !(await hasProcessEnded(pid)); waited += pollMs) {
      if (waited >= stopMs) {
        const hint = `To end it at once: kill -9 ${pid}`;
        throw new CommandError(`The daemon (pid ${pid}) has not stopped in ${stopMs / 1000} s`, exitCodes.failed, [
          hint,
        ]);
      }
      await setTimeout(pollMs);
    }
  }
  const text = pid === undefined ? "The daemon is not running." : `Stopped the daemon (pid ${pid}).`;
  await printResult(context, { text, json: { running: false } });
  return 0;
}

/** Returns the process id of the daemon, if there was one. */
async function askToStop(context: Context): Promise<number | undefined> {
  using running = await RunningProcesses.connect(context);
  const client = running.daemon?.client;
  await client?.ask({ type: "shutdown" });
  return client?.welcome.pid;
}

/** Prints the newest lines that the daemon has written to the debug log. */
async function logs(context: Context): Promise<number> {
  const folder = homePaths(context.home).logs;
  const names = (await readdir(folder).catch(() => [])).filter((name) => /^cody-[\d-]+\.log$/.test(name));
  const lines: { time: string; level: string; message: string }[] = [];
  for (const name of names.toSorted().toReversed()) {
    const text = await readFile(join(folder, name), "utf8").catch(() => "");
    lines.unshift(...text.split("\n").flatMap(daemonLine));
    if (lines.length >= maxLines) break;
  }
  const shown = lines.slice(-maxLines);
  const text = shown.map(({ time, level, message }) => `${time} ${level} ${visible(message)}`).join("\n");
  await printResult(context, { text: text === "" ? "The daemon has logged nothing." : text, json: shown });
  return 0;
}

function daemonLine(line: string): { time: string; level: string; message: string }[] {
  const entry = jsonOrUndefined(line);
  if (!isRecord(entry) || !isRecord(entry["fields"]) || entry["fields"]["daemon"] !== true) return [];
  return [{ time: String(entry["time"]), level: String(entry["level"]), message: String(entry["message"]) }];
}

/** Prints a unit for systemd, which starts the daemon at login and restarts it after a crash. */
async function unit(context: Context): Promise<number> {
  const command = [...programOf(context), "daemon", "run", "--home", context.home].map(unitWord).join(" ");
  const text = [
    "# Save as ~/.config/systemd/user/cody.service, then: systemctl --user enable --now cody",
    "[Unit]",
    "Description=cody daemon",
    "",
    "[Service]",
    `ExecStart=${command}`,
    "Restart=on-failure",
    "",
    "[Install]",
    "WantedBy=default.target",
  ].join("\n");
  await printResult(context, { text, json: { unit: text } });
  return 0;
}

/** systemd expands `%` and `$` also inside quotes. */
function unitWord(word: string): string {
  const escaped = word.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("%", "%%").replaceAll("$", "$$$$");
  return `"${escaped}"`;
}

function programOf({ terminal }: Context): readonly [string, ...string[]] {
  if (terminal.program !== undefined) return terminal.program;
  throw new CommandError(
    "The daemon cannot be started here: cody does not know which program to run. Start it with the installed cody",
    exitCodes.failed,
  );
}

async function runDaemon(context: Context): Promise<number> {
  const { home, terminal } = context;
  using interruption = watchSignals(terminal);
  const stopped = new AbortController();
  const conversations = new DaemonConversations(context, () => stopped.abort());
  await makeDirectory(home);
  const server = await withFileLock(join(home, "daemon.lock"), async () => {
    using running = await RunningProcesses.connect(context);
    const pid = running.daemon?.client.welcome.pid;
    if (pid !== undefined) throw new CommandError(`The daemon is already running: pid ${pid}`, exitCodes.failed);
    const now = (): number => currentTime(context);
    return await ControlServer.start({ kind: "daemon", home, env: terminal.env, conversations, now });
  });
  context.log("info", `started cody ${version}`, { daemon: true });
  const alive = setInterval(() => undefined, longMs);
  const over = AbortSignal.any([interruption.signal, stopped.signal]);
  if (!over.aborted) await once(over, "abort");
  clearInterval(alive);
  await conversations.close();
  context.log("info", "stopped", { daemon: true });
  await server.close();
  return 0;
}
