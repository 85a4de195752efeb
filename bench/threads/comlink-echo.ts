import * as Comlink from "comlink";
import { comlinkEndpoint } from "../../src/actors/runtime/thread.js";
import type { EchoOp } from "../support/echo.js";
import { workerPort } from "../support/worker-port.js";

Comlink.expose({ echo: ({ value }: EchoOp): number => value }, comlinkEndpoint(workerPort()));
