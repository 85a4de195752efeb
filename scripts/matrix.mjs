// Runs the tests on every supported version of Node. The binaries come from the npm package `node`.
import { spawnSync } from "node:child_process";

const versions = process.argv.length > 2 ? process.argv.slice(2) : ["20", "22", "24"];
const results = versions.map((version) => [version, testOn(version)]);
for (const [version, result] of results) console.log(`Node ${version}: ${result}`);
process.exitCode = results.every(([, result]) => result === "passed") ? 0 : 1;

function testOn(version) {
  const found = spawnSync(
    "npm",
    ["exec", "--yes", `--package=node@${version}`, "--", "node", "-p", "process.execPath"],
    {
      encoding: "utf8",
    },
  );
  const binary = found.stdout.trim().split("\n").at(-1);
  if (found.status !== 0 || !binary) return `not to be had: ${found.stderr.trim().split("\n").at(-1)}`;
  const { status } = spawnSync(binary, ["node_modules/vitest/vitest.mjs", "run"], { stdio: "inherit" });
  return status === 0 ? "passed" : "failed";
}
