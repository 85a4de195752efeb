// Makes every bundle of the project: the package, and the processes and threads that tests and benchmarks start.
import { randomUUID } from "node:crypto";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";

const root = fileURLToPath(new URL("..", import.meta.url));

/** The text of the error for code that cannot be loaded any more; `src/workers/same-build.ts` uses it too. */
const replaced =
  "cody was updated or removed while this process was running, so it cannot load the rest of its code. Start it again: " +
  "saved conversations are not affected";

/**
 * `input` maps the name of each output to its source. `cjs` is for programs that must start fast, because Node loads
 * CommonJS faster than ES modules; `esm` is for the library. `together` maps the name of a chunk to its modules (a
 * module belongs to the first chunk that lists it): every file to load costs up to a millisecond. `buildId` is known to
 * the code, and so changes the names of the chunks that contain it. Returns the chunks.
 */
export async function bundle({ format, input, directory, together = {}, buildId }) {
  const extension = format === "cjs" ? "cjs" : "js";
  const isProgram = Object.keys(together).length > 0;
  const { output } = await build({
    cwd: root,
    input,
    platform: "node",
    // Loaded from node_modules when needed: few users have MCP servers, undici is large and only for proxies, piscina
    // starts a file of its own, few have a configuration in YAML or with comments, libsql is optional native code,
    // ripgrep looks for its binary next to itself, and examples import cody as users do.
    external: [
      "@modelcontextprotocol/client",
      "@vscode/ripgrep",
      /^cody(\/|$)/,
      "@lydell/node-pty",
      "jsonc-parser",
      "libsql",
      "piscina",
      "undici",
      "yaml",
    ],
    transform: {
      target: "node20.19",
      define: {
        CODY_REPLACED: JSON.stringify(replaced),
        ...(buildId === undefined ? {} : { CODY_BUILD: JSON.stringify(buildId) }),
      },
    },
    // The command line imports schemas lazily; the library exports them, so there the dynamic imports have no effect.
    checks: { ineffectiveDynamicImport: false },
    output: {
      format,
      entryFileNames: `[name].${extension}`,
      chunkFileNames: `chunks/[name]-[hash].${extension}`,
      ...(isProgram ? { codeSplitting: { groups: groupsOf(together) } } : {}),
      // Keep names, so that stack traces in the debug log are readable. For an uncaught error Node prints the line that
      // threw, so the library keeps its lines; the command line prints no such line and starts faster without white space.
      minify: { mangle: false, compress: false, codegen: { removeWhitespace: format === "cjs" } },
    },
    write: false,
  });
  if (directory !== undefined) {
    const codeOf = ({ fileName, code }) => (isProgram && fileName.startsWith("chunks/") ? withImporter(code) : code);
    const write = async (file) =>
      await replaceFile(resolve(root, directory, file.fileName), withLoader(codeOf(file), format));
    await Promise.all(output.map(write));
  }
  return output.filter(({ type }) => type === "chunk");
}

/**
 * Lets a chunk import modules with the function that `src/cli/compile-cache.ts` provides: code from the cache has lost
 * the connection to Node's loader, and its own `import` fails. Methods named `import` and quoted code stay as they are.
 */
function withImporter(code) {
  const changed = code.replaceAll(/(?<![\w$.}`]|async )import\(/g, "importModule(");
  if (changed === code) return code;
  const importer = 'globalThis[Symbol.for("cody.importModule")]??(name=>import(name))';
  return `const importModule=${importer};${changed}`;
}

/**
 * Explains the error when a file of our own is gone that is loaded late. The names of chunks contain a hash of what they
 * contain and load, so a process never loads the code of another version.
 */
function withLoader(code, format) {
  const explained = code.replaceAll(chunkImports[format], "loadChunkOfCody(()=>$1)");
  return explained === code ? code : `${explained}\n${loader}\n`;
}

/** How the bundler writes a dynamic import of a chunk. */
const chunkImports = {
  cjs: /Promise\.resolve\(\)\.then\(\(\)=>(require\("\.\.?\/[^"]+-[\w-]{8}\.cjs"\))\)/g,
  esm: /(?<![\w$.])(import\("\.\/[^"]+-[\w-]{8}\.js"\))/g,
};

const loader = [
  "async function loadChunkOfCody(load){try{return await load()}catch(error){",
  'if(error?.code!=="MODULE_NOT_FOUND"&&error?.code!=="ERR_MODULE_NOT_FOUND")throw error;',
  `throw Object.assign(new Error(${JSON.stringify(replaced)},{cause:error}),{code:"CODY_REPLACED"})}}`,
].join("");

function groupsOf(together) {
  const names = Object.keys(together);
  return names.map((name, index) => ({
    name,
    test: (id) => together[name].includes(id),
    priority: names.length - index,
  }));
}

/** Replaces a file atomically, because a process or thread may be starting from it. */
export async function replaceFile(path, contents) {
  await mkdir(dirname(path), { recursive: true });
  // Two bundles may write the same chunk at once, so each write has its own temporary name.
  const temporary = `${path}.${randomUUID()}.tmp`;
  await writeFile(temporary, contents);
  await rename(temporary, path);
}
