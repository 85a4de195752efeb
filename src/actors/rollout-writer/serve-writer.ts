import { parentPort, type MessagePort } from "node:worker_threads";
import * as Comlink from "comlink";
import type {
  RolloutWriterAnswer,
  RolloutWriterReport,
  RolloutWriterSubmission,
} from "../../messages/actors/rollout-writer.js";
import { comlinkEndpoint } from "../runtime/comlink-endpoint.js";
import type { RolloutWriter, WriterSession } from "./rollout-writer.js";

const reportsPerMessage = 256;

/** The functions that the owner of the writer thread calls through Comlink. */
export interface WriterControl {
  /** Serves one more client. */
  connect(port: MessagePort): void;
  /** Returns at once: a late answer means that the thread hangs. */
  ping(): void;
  /** Closes every rollout and releases its lock. */
  stop(): Promise<void>;
}

/** The function that a client calls through Comlink. Answers and events come back as arrays of reports on its port. */
export interface WriterRemote {
  /** Returns at once, without waiting for the disk. */
  submit(batch: readonly RolloutWriterSubmission[]): void;
}

/** Runs a writer in this thread. This call is all that the thread's entry file contains. */
export function serveWriter(writer: Pick<RolloutWriter, "connect" | "stop">): void {
  if (parentPort === null) throw new Error("serveWriter: not in a worker thread");
  const control: WriterControl = {
    connect: (port) => serveClient((publish) => writer.connect(publish), port),
    ping: () => undefined,
    stop: () => writer.stop(),
  };
  Comlink.expose(control, comlinkEndpoint(parentPort));
}

/** Connects one client to the writer until its port closes. */
export function serveClient(connect: RolloutWriter["connect"], port: MessagePort): void {
  const reports = new Reports(port);
  const session = connect((event) => reports.add({ type: "event", event }));
  const remote: WriterRemote = {
    submit: (batch) => {
      for (const submission of batch) submit(session, submission, reports);
    },
  };
  Comlink.expose(remote, comlinkEndpoint(port));
  port.on("messageerror", crash);
  port.on("close", () => void session.end());
}

function submit(session: WriterSession, { id, op }: RolloutWriterSubmission, reports: Reports): void {
  const report = (answer: RolloutWriterAnswer): void => reports.add({ type: "answer", id, answer });
  try {
    const answer = session.handle(op);
    if (answer instanceof Promise) answer.then(report, crash);
    else if (answer !== undefined) report(answer);
  } catch (error) {
    crash(error);
  }
}

/** A bug ends the thread: a new one starts from the files, and the clients send it what it needs. */
function crash(error: unknown): void {
  setImmediate(() => {
    throw error;
  });
}

/** Sends the reports made in one turn of the event loop in one message. */
class Reports {
  readonly #port: MessagePort;
  #batch: RolloutWriterReport[] = [];

  constructor(port: MessagePort) {
    this.#port = port;
  }

  add(report: RolloutWriterReport): void {
    this.#batch.push(report);
    if (this.#batch.length === 1) setImmediate(() => this.#send());
    else if (this.#batch.length >= reportsPerMessage) this.#send();
  }

  #send(): void {
    if (this.#batch.length === 0) return;
    this.#port.postMessage(this.#batch, []);
    this.#batch = [];
  }
}
