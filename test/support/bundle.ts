import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundle } from "../../scripts/bundle.mjs";

const builds = fileURLToPath(new URL("../../build", import.meta.url));

/** Bundles a module into one JavaScript file for child processes, because Node 20 cannot load TypeScript. */
export async function bundleModule(source: string): Promise<{ file: string } & AsyncDisposable> {
  // Inside the package, so that imports that are not bundled resolve.
  await mkdir(builds, { recursive: true });
  const directory = await mkdtemp(join(builds, "module-"));
  await bundle({ format: "esm", input: { module: source }, directory });
  const remove = () => rm(directory, { recursive: true, force: true });
  return { file: join(directory, "module.js"), [Symbol.asyncDispose]: remove };
}
