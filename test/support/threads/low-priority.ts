import { getPriority } from "node:os";
import { parentPort } from "node:worker_threads";
import { lowerThreadPriority } from "../../../src/workers/jobs.js";

lowerThreadPriority();
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- between threads there is no origin
parentPort?.postMessage(getPriority());
