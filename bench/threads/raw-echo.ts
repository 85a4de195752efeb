import type { EchoOp } from "../support/echo.js";
import { ownPort } from "../support/worker-port.js";

const port = ownPort();
port.on("message", (op: EchoOp) => {
  if (op.type === "echo") port.postMessage(op, []);
});
