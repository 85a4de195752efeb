import { fileURLToPath } from "node:url";
import { bundle } from "../../scripts/bundle.mjs";

/** Where the tests' child programs are built, with the writer's thread entry beside them as in `dist`. */
const directory = "build/test-children/dist";

/**
 * Bundles a program of this folder into one file that loads only what it uses, and returns its path. A process that is
 * killed thousands of times spends most of its life starting.
 */
export async function bundleChild(name: string): Promise<string> {
  const output = `crash/${name}`;
  await bundle({ format: "cjs", input: { [output]: `test/crash/${name}.ts` }, directory });
  return fileURLToPath(new URL(`../../${directory}/${output}.cjs`, import.meta.url));
}
