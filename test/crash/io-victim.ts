import { writeSync } from "node:fs";
import { IoCalls, type IoCall } from "./io-calls.js";
import { scenarios, type ScenarioName, type Scene } from "./io-scenarios.js";
import { sendReport } from "./report.js";

/** Where the process dies: before a disk call or, for a write, after half of its bytes. */
export interface Death {
  readonly number: number;
  readonly call: string;
  readonly how: "before" | "half";
}

/** The job of a victim, passed as its only argument. */
export interface VictimOrder extends Scene {
  readonly scenario: ScenarioName;
  readonly death: Death;
}

const never = new Promise<never>(() => {});

// Plays a scenario until it dies at one of its calls, and reports what was acknowledged before.
void play(JSON.parse(process.argv[2] ?? "") as VictimOrder);

async function play({ scenario, death, ...scene }: VictimOrder): Promise<void> {
  await scenarios[scenario].prepare(scene);
  using calls = new IoCalls(scene.directory, (call) => (isReached(death, call) ? die(death, call) : call.perform()));
  await scenarios[scenario].play({
    ...scene,
    fileSystem: calls.fileSystem,
    quiet: () => calls.quiet(),
    heal: () => {},
    opened: () => {},
    answered: (conversation, line, { status }) => {
      if (status === "saved") sendReport({ type: "saved", conversation, line });
    },
  });
}

/** Compares the name too: calls that run at the same time may change their order. */
function isReached(death: Death, { name, number }: IoCall): boolean {
  return name === death.call && number >= death.number;
}

function die({ how }: Death, { args: [fd, bytes] }: IoCall): Promise<never> {
  if (how === "half") writeSync(fd as number, (bytes as Uint8Array).subarray(0, half(bytes as Uint8Array)));
  process.kill(process.pid, "SIGKILL");
  return never;
}

function half({ length }: Uint8Array): number {
  return Math.ceil(length / 2);
}
