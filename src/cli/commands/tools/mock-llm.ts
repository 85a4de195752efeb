import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { closeSync, openSync, writeSync } from "node:fs";
import { systemReason } from "../../../base/system-error.js";
import { shortened } from "../../../base/text/truncate.js";
import { visible } from "../../../base/text/visible.js";
import { jsonValue } from "../../../base/parse.js";
import type { LoggedRequest } from "../../../mock-llm/respond.js";
import { type MockScript, readScript } from "../../../mock-llm/script.js";
import { type MockLlm, type MockLlmOptions, startMockLlm } from "../../../mock-llm/server.js";
import { CommandError, exitCodes, usageError } from "../../command-error.js";
import { type ContextOf, printLine, printResult } from "../../context.js";
import { watchSignals } from "../../terminal/interruption.js";

const maxRefusalChars = 200;

/** Serves the three wire APIs until interrupted. */
export async function mockLlmCommand(context: ContextOf<"mock-llm">): Promise<number> {
  const { flags, terminal } = context;
  const port = portOf(flags.port);
  const script = flags.script === undefined ? undefined : await scriptIn(resolve(terminal.cwd, flags.script));
  using log = flags.log === undefined ? undefined : logIn(resolve(terminal.cwd, flags.log));
  using interruption = watchSignals(terminal);
  const stopped = once(interruption.signal, "abort");
  await using mock = await startedOn(port, {
    strict: !flags.noStrict,
    keepRequests: 0,
    ...(script === undefined ? {} : { script }),
    onRequest: (request) => {
      log?.add(request);
      void printRequest(context, request);
    },
  });
  await printAddress(context, mock);
  await stopped;
  return interruption.exitCode ?? 0;
}

function portOf(text: string | undefined): number {
  if (text === undefined) return 0;
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) {
    throw usageError(`--port: expected a number from 0 to 65535, not '${text}'`);
  }
  return Number(text);
}

async function scriptIn(file: string): Promise<MockScript> {
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    throw usageError(`--script ${file}: cannot read the file: ${systemReason(error)}`);
  });
  return readScript(jsonValue(text, file), file);
}

function logIn(file: string): RequestLogFile {
  try {
    return openRequestLog(file);
  } catch (error) {
    throw usageError(`--log ${file}: cannot write the file: ${systemReason(error)}`);
  }
}

/** Only a named port can be in use: without one, the system chooses a free port. */
async function startedOn(port: number, options: MockLlmOptions): Promise<MockLlm> {
  return await startMockLlm({ ...options, port }).catch((error: unknown) => {
    const text = `--port ${port}: cannot listen on this port: ${systemReason(error)}`;
    throw new CommandError(text, exitCodes.failed, ["To use any free port, omit --port"]);
  });
}

async function printAddress(context: ContextOf<"mock-llm">, { url }: MockLlm): Promise<void> {
  const env = {
    OPENAI_BASE_URL: `${url}/v1`,
    OPENAI_API_KEY: "mock",
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: "mock",
  };
  const lines = Object.entries(env).map(([name, value]) => `  export ${name}=${value}`);
  const text = [`Listening on ${url}. Press Ctrl-C to stop.`, ...lines].join("\n");
  await printResult(context, { text, json: { url, env } });
}

async function printRequest(context: ContextOf<"mock-llm">, request: LoggedRequest): Promise<void> {
  const { number, method, path, session, status, refusal, fault } = request;
  if (context.flags.json) {
    const json = { number, method, path, session, status: status ?? null, refusal, fault };
    return await printLine(context, JSON.stringify(json));
  }
  const why = [...(fault === undefined ? [] : [`fault: ${fault}`]), ...(refusal === undefined ? [] : [refusal])];
  const line = [String(status ?? "---"), method, path, ...why.map((text) => shortened(text, maxRefusalChars))].join(
    " ",
  );
  await printLine(context, visible(line));
}

interface RequestLogFile extends Disposable {
  add(request: LoggedRequest): void;
}

/** Logs each request as a JSON line, before the response is sent, so that a client that got it finds the line. */
function openRequestLog(file: string): RequestLogFile {
  // Private, because requests contain what people write to their models.
  const descriptor = openSync(file, "a", 0o600);
  return {
    add: (request) => void writeSync(descriptor, `${JSON.stringify(request)}\n`),
    [Symbol.dispose]: () => closeSync(descriptor),
  };
}
