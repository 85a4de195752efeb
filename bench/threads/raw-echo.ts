import type { EchoOp } from "../support/echo.js";
import { workerPort } from "../support/worker-port.js";

const port = workerPort();
port.on("message", (op: EchoOp) => {
  if (op.type === "echo") port.postMessage(op, []);
});
