import type { Failure } from "../../messages/failure.js";

const lost = /^(?:ECONNRESET|EPIPE|ECONNABORTED|ERR_STREAM_PREMATURE_CLOSE|UND_ERR_SOCKET|HPE_|Z_|ERR__?ZLIB)/;
const slow = /^(?:ETIMEDOUT|UND_ERR_\w*TIMEOUT)/;
const unreachable = /^(?:ECONNREFUSED|EHOST|ENET|EADDR|UND_ERR_)/;
const unknownHost = /^(?:ENOTFOUND|EAI_)/;
const distrusted = /CERT|SELF_SIGNED|UNABLE_TO_|ERR_TLS|ERR_SSL|EPROTO/;

/** What an error of the system says about the network; undefined when it is about something else. */
export function networkFailure(code: string, host: string | undefined): Failure | undefined {
  const where = host === undefined ? "the server" : host;
  const failure = (what: string, retryable = true, kind: Failure["code"] = "network"): Failure => ({
    code: kind,
    message: `${what} (${code})`,
    retryable,
  });
  if (lost.test(code)) return failure("the connection was lost");
  if (slow.test(code)) return failure(`${where} did not answer in time`, true, "timeout");
  if (unreachable.test(code)) return failure(`cannot connect to ${where}`);
  if (unknownHost.test(code)) return failure(`cannot find ${where}`);
  if (distrusted.test(code)) return failure(`cannot make a safe connection to ${where}`, false);
  return undefined;
}
