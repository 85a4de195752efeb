// The `setup` module of the benchmark `scale`: makes its thread known, and has a provider that needs no server. Only its
// own URL names the directory, so no other file may import it, or it would become part of a chunk with another URL.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { inProcessProvider } from "../scale/in-process-provider.js";
import { ownTask } from "../scale/thread-cpu.js";

const directory = new URL(import.meta.url).searchParams.get("threads");
if (directory !== null) writeFileSync(join(directory, ownTask()), "");

export const providers = [inProcessProvider];
