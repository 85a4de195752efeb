// How every bundle of the project is made: the package, and what tests and benchmarks start as processes or threads.
import { randomUUID } from "node:crypto";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";

const root = fileURLToPath(new URL("..", import.meta.url));

/**
 * `input` maps the name of each output to its source. `cjs` is for whatever must start fast, because Node loads
 * CommonJS quicker than ES modules; `esm` for whoever imports us. `together` maps the name of a file to the modules that
 * go into it, the first that names a module has it: every file costs a short command up to a millisecond. Gives the chunks.
 */
export async function bundle({ format, input, directory, together = {} }) {
  const extension = format === "cjs" ? "cjs" : "js";
  const { output } = await build({
    cwd: root,
    input,
    platform: "node",
    // Loaded from node_modules when needed: few have MCP servers, undici is large and only for proxies, piscina starts a
    // file of its own, few have a configuration in YAML or with comments, libsql is native code that may not be there,
    // ripgrep looks for its program beside itself, and an example has cody as its users have it.
    external: [
      "@modelcontextprotocol/client",
      "@vscode/ripgrep",
      /^cody(\/|$)/,
      "jsonc-parser",
      "libsql",
      "piscina",
      "undici",
      "yaml",
    ],
    transform: { target: "node20.19" },
    // The command line loads schemas only when it needs them; in the library, which exports them, they are there anyway.
    checks: { ineffectiveDynamicImport: false },
    output: {
      format,
      entryFileNames: `[name].${extension}`,
      chunkFileNames: `chunks/[name]-[hash].${extension}`,
      ...(Object.keys(together).length === 0 ? {} : { codeSplitting: { groups: groupsOf(together) } }),
      // Names stay: a stack in the debug log must be readable. For an uncaught error Node prints the line that threw, so
      // the library keeps its lines; the command line, which prints no such line, starts faster without white space.
      minify: { mangle: false, compress: false, codegen: { removeWhitespace: format === "cjs" } },
    },
    write: false,
  });
  if (directory !== undefined) {
    await Promise.all(output.map(({ fileName, code }) => replaceFile(resolve(root, directory, fileName), code)));
  }
  return output.filter(({ type }) => type === "chunk");
}

function groupsOf(together) {
  const names = Object.keys(together);
  return names.map((name, index) => ({
    name,
    test: (id) => together[name].includes(id),
    priority: names.length - index,
  }));
}

/** Whole or not at all: someone may be starting processes or threads from it. */
async function replaceFile(path, contents) {
  await mkdir(dirname(path), { recursive: true });
  // Two bundles may have the same chunk, so a name for each write.
  const temporary = `${path}.${randomUUID()}.tmp`;
  await writeFile(temporary, contents);
  await rename(temporary, path);
}
