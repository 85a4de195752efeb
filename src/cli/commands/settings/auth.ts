import { exitCodes, usageError } from "../../command-error.js";
import { type AuthStatus, authStatus, type MethodStatus } from "./auth-status.js";
import { type CommandContext, printResult } from "../../context.js";
import { localTime } from "../../format/local-time.js";

/** Says how cody would prove who asks, and never with what. */
export async function authCommand(context: CommandContext): Promise<number> {
  const [action = "status"] = context.args;
  if (action !== "status") throw usageError(`Unknown action '${action}'`, "Usage: cody auth status");
  const status = await authStatus(context);
  await printResult(context, { text: statusText(status), json: status });
  const inUse = status.methods.find(({ method }) => method === status.method);
  return inUse?.available === true ? 0 : exitCodes.failed;
}

function statusText({ method, methods }: AuthStatus): string {
  const inUse = methods.find((each) => each.method === method);
  const others = methods.filter((each) => each !== inUse && each.source !== null);
  return [
    ...(inUse === undefined ? ["Nothing proves who you are: there is no key, and no login was chosen"] : told(inUse)),
    ...(others.length === 0 ? [] : ["", "Not in use:", ...others.map((other) => `  ${lineOf(other)}`)]),
  ].join("\n");
}

function told(status: MethodStatus): string[] {
  const { method, provider, account, plan, expiresAt, renewable, source, problem } = status;
  const ends = expiresAt === null ? undefined : localTime(Date.parse(expiresAt));
  return [
    `Method: ${method} (${provider})`,
    ...(account === null ? [] : [`Account: ${account}${plan === null ? "" : ` (${plan})`}`]),
    ...(ends === undefined ? [] : [`Token ends: ${ends}${renewable ? ", and is then renewed" : ""}`]),
    ...(source === null ? [] : [`From: ${source}`]),
    ...(problem === null ? [] : [`✗ ${problem}`]),
  ];
}

function lineOf({ method, account, source, problem }: MethodStatus): string {
  return [method, account, source, problem].filter((part) => part !== null).join("  ");
}
