import { realpath, stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { RolloutOutbox } from "../actors/rollout-writer/outbox.js";
import { resolveCodexHome, codyHome } from "../config/paths.js";
import { findProjectRoots, type ProjectRoots } from "../config/project/project.js";
import { version } from "../version.js";
import { commandRow } from "./arguments/command-table.js";
import type { GivenFlags } from "./arguments/flag-table.js";
import { loadCommand } from "./arguments/load-command.js";
import { CommandError, exitCodes, usageError } from "./command-error.js";
import type { CommandContext } from "./context.js";
import { describeError, isReplaced } from "./describe-error.js";
import { type Diagnostics, openDiagnostics } from "./diagnostics.js";
import { unwritten } from "./terminal/output.js";
import { type ParsedCommand, parseArguments } from "./arguments/parse-arguments.js";
import type { Terminal } from "./terminal/terminal.js";

/** Runs one command line and resolves with its exit code. Never rejects. */
export async function runCommandLine(argv: readonly string[], processTerminal: Terminal): Promise<number> {
  let parsed: ParsedCommand;
  let home: string;
  let terminal: Terminal;
  try {
    parsed = parseArguments(argv);
    terminal = await inFolder(processTerminal, parsed.flags.cd);
    home = homeOf(terminal, parsed.flags);
  } catch (error) {
    const { lines, exitCode } = describeError(error);
    await processTerminal.stderr.write(`${lines.join("\n")}\n`);
    return exitCode;
  }
  if (parsed.flags.raw) terminal.stdout.allowControls();
  const diagnostics = openDiagnostics(terminal, home);
  const unlisten = terminal.onCrash((error) => void crash(error, terminal, diagnostics));
  try {
    const codex = resolveCodexHome({ env: terminal.env, homedir: () => terminal.homedir });
    const { args, flags } = parsed;
    const projectRoots = searchedOnce(terminal);
    const paths = { home, codexHome: codex, projectRoots };
    return await runCommand(parsed, { ...diagnostics, ...paths, terminal, runCommandLine, args, flags });
  } catch (error) {
    return await report(error, parsed.name, diagnostics);
  } finally {
    await diagnostics.close();
    unlisten();
  }
}

/** The terminal as if the process had been started in another folder. Its streams are opened only when they are read. */
async function inFolder(terminal: Terminal, folder: string | undefined): Promise<Terminal> {
  if (folder === undefined) return terminal;
  const cwd = await realpath(resolve(terminal.cwd, folder)).catch(() => undefined);
  if (cwd === undefined || !(await stat(cwd)).isDirectory()) {
    throw usageError(`--cd ${folder}: there is no such folder`, "Create it first, or name an existing one");
  }
  return Object.create(terminal, { cwd: { value: cwd } }) as Terminal;
}

function searchedOnce(terminal: Terminal): CommandContext["projectRoots"] {
  let search: Promise<ProjectRoots> | undefined;
  // The working directory is read when it is needed: not every command does, and it may be gone.
  return async () => await (search ??= findProjectRoots(terminal.cwd));
}

async function runCommand({ name, flags, help }: ParsedCommand, context: CommandContext<GivenFlags>): Promise<number> {
  const { stdout } = context.terminal;
  if (flags.help || flags.version) {
    await stdout.write(`${flags.help ? help(stdout.columns) : version}\n`);
    return 0;
  }
  const { writes = false } = commandRow(name);
  // The writer's thread takes as long to start as the command takes to load, so both happen in parallel.
  const outbox = writes && flags.noPersistence !== true ? await startOutbox(context.terminal.env) : undefined;
  const command = await loadCommand(name);
  try {
    const exitCode = await command({ ...context, outbox });
    await stdout.flush();
    if (writes) await cleanUp(context);
    if (stdout.failure === undefined) return exitCode;
  } finally {
    await outbox?.stop();
  }
  throw new CommandError(unwritten(stdout.failure), exitCodes.failed);
}

/** Runs after the command has printed its result. */
async function cleanUp(context: CommandContext<GivenFlags>): Promise<void> {
  try {
    const { automaticRetention } = await import("./commands/maintenance/automatic-retention.js");
    await automaticRetention(context);
  } catch (error) {
    // The command has succeeded, and the next one cleans up.
    if (!isReplaced(error)) throw error;
  }
}

async function startOutbox(env: Terminal["env"]): Promise<RolloutOutbox> {
  const { openOutbox } = await import("../actors/rollout-writer/outbox.js");
  const outbox = openOutbox(env);
  outbox.start();
  return outbox;
}

function homeOf(terminal: Terminal, flags: GivenFlags): string {
  if (flags.home !== undefined) return resolve(terminal.cwd, flags.home);
  const { env } = terminal;
  // Only read without CODY_HOME: a user without an entry in the password file has no home.
  return codyHome({ env, homedir: env["CODY_HOME"] ? "" : terminal.homedir });
}

async function report(error: unknown, command: string, diagnostics: Diagnostics): Promise<number> {
  const { lines, exitCode, unexpected } = describeError(error, command);
  if (unexpected) {
    const stack = error instanceof Error ? error.stack : undefined;
    diagnostics.log("error", lines.join(" "), stack === undefined ? {} : { stack });
  }
  await diagnostics.tell([...lines, ...(unexpected ? [`  Details: ${diagnostics.place}`] : [])].join("\n"));
  return exitCode;
}

/** After an uncaught error the state of the running command is unknown, so it is not awaited. */
async function crash(error: unknown, terminal: Terminal, diagnostics: Diagnostics): Promise<void> {
  await report(error, "", diagnostics);
  await diagnostics.close();
  terminal.exit(exitCodes.unexpected);
}
