import { Pool } from "../../../src/workers/pool.js";
import type { FaultyJobs } from "../faulty-jobs.js";
import { poolOptions } from "../pool-options.js";

// A process whose last work is in a pool: it must wait for that work, and for nothing else.
const pool = new Pool<FaultyJobs>({
  ...poolOptions,
  entry: new URL("faulty-jobs.js", import.meta.url),
  idleMs: 600_000,
});

const work = process.argv[2] ?? "";
switch (work) {
  case "never_used":
    console.log("done");
    break;
  case "idle":
    console.log(await pool.run("echo", "answered"));
    break;
  case "not_awaited":
    void pool.run("echo", "answered").then(console.log);
    break;
  case "waiting":
    void pool.run("echo", 1);
    void pool.run("echo", "answered").then(console.log);
    break;
  case "closed":
    void pool.run("echo", 1);
    await pool.close();
    console.log(await pool.run("echo", 2));
    break;
  default:
    throw new Error(`unknown case ${work}`);
}
