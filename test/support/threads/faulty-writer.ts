import { existsSync, writeFileSync } from "node:fs";
import { RolloutWriter, threadFileSystem } from "../../../src/actors/rollout-writer/rollout-writer.js";
import { serveWriter } from "../../../src/actors/rollout-writer/serve-writer.js";

// A writer whose thread ends in the way that a line asks for, such as `(fault exit 1)`. Each fault happens once: a file
// beside the rollout shows the next thread that it has.
const writer = new RolloutWriter(threadFileSystem);
const paths = new Map<string, string>();

serveWriter({
  stop: () => writer.stop(),
  connect: (publish) => {
    const session = writer.connect(publish);
    return {
      end: () => session.end(),
      handle: (op) => {
        if (op.type === "open") paths.set(op.conversationId, op.path);
        if (op.type === "append") for (const line of op.lines) faultIn(line, paths.get(op.conversationId) ?? "");
        return session.handle(op);
      },
    };
  },
});

function faultIn(line: string, path: string): void {
  const [, how = "", number = ""] = /\(fault (\w+) (\d+)\)/.exec(line) ?? [];
  const marker = `${path}.${how}-${number}`;
  if (how === "" || existsSync(marker)) return;
  writeFileSync(marker, "");
  faults[how]?.();
}

const faults: Record<string, () => void> = {
  exit: () => process.exit(7),
  bug: () => {
    throw new Error("a bug");
  },
  throw_outside: () => {
    setImmediate(() => {
      throw new Error("nobody catches this");
    });
  },
  out_of_memory: () => {
    const kept: unknown[] = [];
    for (;;) kept.push(Array.from({ length: 1_000 }, () => ({ kept })));
  },
  spin: () => {
    for (;;);
  },
};
