import { closeSync, openSync, writeSync } from "node:fs";
import type { LoggedRequest } from "../../../mock-llm/request-log.js";

export interface RequestLogFile extends Disposable {
  add(request: LoggedRequest): void;
}

/** A JSON line for each request. Written before the answer goes out, so that whoever got the answer finds it. */
export function openRequestLog(file: string): RequestLogFile {
  // Requests hold what people say to their models.
  const descriptor = openSync(file, "a", 0o600);
  return {
    add: (request) => void writeSync(descriptor, `${JSON.stringify(request)}\n`),
    [Symbol.dispose]: () => closeSync(descriptor),
  };
}
