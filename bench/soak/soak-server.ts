import type { WireApi } from "../../src/messages/settings/config.js";
import type { LoggedRequest } from "../../src/mock-llm/respond.js";
import { startMockLlm } from "../support/built-testing.js";
import { add, type ServerReport } from "./load.js";
import { soakScript } from "./soak-script.js";

export interface SoakServer {
  readonly urls: Readonly<Record<WireApi, string>>;
  report(): ServerReport;
}

/** Starts a server for each API, so that each API meets all the faults. */
export async function serveSoak(): Promise<SoakServer> {
  let requests = 0;
  const faults = {};
  const refusals = {};
  const onRequest = ({ fault, status, refusal }: LoggedRequest): void => {
    requests += 1;
    if (fault !== undefined) add(faults, fault === "status" ? `status ${status}` : fault);
    else if (refusal !== undefined) add(refusals, refusal);
  };
  const start = async (api: WireApi): Promise<string> =>
    (await startMockLlm({ script: soakScript(api), keepRequests: 0, onRequest })).url;
  const [responses, chat, messages] = await Promise.all([start("responses"), start("chat"), start("messages")]);
  return {
    urls: { responses: `${responses}/v1`, chat: `${chat}/v1`, messages },
    report: () => ({ requests, faults, refusals }),
  };
}
