import { fileURLToPath } from "node:url";
import { bundle } from "../../scripts/bundle.mjs";

/** Where the tests' processes are built, with the writer's thread beside them as in `dist`. */
const directory = "build/test-children/dist";

/**
 * A program of this folder as one file that loads nothing but what it uses, and its path: a process that is killed
 * thousands of times spends most of its life on starting.
 */
export async function bundleChild(name: string): Promise<string> {
  const output = `crash/${name}`;
  await bundle({ format: "cjs", input: { [output]: `test/crash/${name}.ts` }, directory });
  return fileURLToPath(new URL(`../../${directory}/${output}.cjs`, import.meta.url));
}
