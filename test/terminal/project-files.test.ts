import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { ProjectFiles, type ProjectFilesOptions } from "../../src/cli/terminal/model/project-files.js";
import { temporaryFolder } from "../support/temporary-folder.js";

async function projectOf(...paths: string[]): Promise<string> {
  const folder = join(await temporaryFolder(), "project");
  for (const path of paths) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), path.endsWith(".gitignore") ? "*.log\nbuild/\n" : "");
  }
  return folder;
}

interface Loading {
  readonly files: ProjectFiles;
  /** Resolves when a list that was started is complete. */
  readonly loaded: () => Promise<void>;
}

function filesOf(cwd: string, options: Partial<ProjectFilesOptions> = {}): Loading {
  let complete: (() => void) | undefined;
  const common = { cwd, homedir: join(cwd, ".."), privatePaths: [], env: {} };
  return {
    files: new ProjectFiles({ ...common, onLoaded: () => complete?.(), ...options }),
    loaded: () =>
      new Promise((resolve) => {
        complete = resolve;
      }),
  };
}

async function listed(cwd: string, options: Partial<ProjectFilesOptions> = {}): Promise<ProjectFiles> {
  const { files, loaded } = filesOf(cwd, options);
  const done = loaded();
  files.refresh();
  await done;
  return files;
}

function pathsOf(files: ProjectFiles, query = "", limit = 100): string[] {
  return files.find(query, limit).map(({ candidate }) => candidate);
}

it("lists what git does not ignore, near files first, and the folders", async () => {
  const own = [".gitignore", ".github/ci.yml", "b.ts", "src/a/deep.ts", "src/c.ts"];
  const cwd = await projectOf(...own, "x.log", "build/out.js", "node_modules/m.js");
  await writeFile(join(cwd, "src/.gitignore"), "a/\n");
  const near = [".github/", ".gitignore", "b.ts", "src/"];
  expect(pathsOf(await listed(cwd))).toEqual([...near, ".github/ci.yml", "src/.gitignore", "src/c.ts"]);
});

it("finds by some letters, the best first", async () => {
  const files = await listed(
    await projectOf("docs/editing.md", "src/view/editor.ts", "src/model/editor.ts", "e/d/i/t.ts"),
  );
  expect(pathsOf(files, "editor", 2)).toEqual(["src/view/editor.ts", "src/model/editor.ts"]);
  expect(pathsOf(files, "moed")).toEqual(["src/model/editor.ts"]);
  expect(pathsOf(files, "view/")[0]).toBe("src/view/");
});

it("lists no files with secrets, no private files and nothing outside of the project", async () => {
  const cwd = await projectOf(
    "a.ts",
    ".env",
    ".env.example",
    "certs/site.pem",
    "keys/id_rsa",
    "secrets.yaml",
    "own/tokens.json",
  );
  await writeFile(join(cwd, "..", "outside.ts"), "");
  await symlink("../outside.ts", join(cwd, "link.ts"));
  await symlink("..", join(cwd, "up"));
  await writeFile(join(cwd, "odd\n..\noutside.ts"), "");
  await mkdir(join(cwd, "odd2\n"));
  await writeFile(join(cwd, "odd2\n/hosts"), "");
  const paths = pathsOf(await listed(cwd, { privatePaths: [join(cwd, "own/tokens.json")] }));
  expect(paths.filter((path) => !path.startsWith("odd"))).toEqual([".env.example", "a.ts", "outside.ts"]);
  // A project that is the home itself.
  const home = await projectOf(".ssh/config", "a.ts");
  expect(pathsOf(await listed(home, { homedir: home }))).toEqual(["a.ts"]);
});

it("lists at most so many files and says so", async () => {
  const cwd = await projectOf("a", "b", "c", "d");
  const files = await listed(cwd, { maxFiles: 3 });
  expect([pathsOf(files), files.problem]).toEqual([["a", "b", "c"], `Only the first 3 files of ${cwd} are listed.`]);
  expect((await listed(cwd, { maxFiles: 4 })).problem).toBeUndefined();
});

it("finds the files from before while it lists them again", async () => {
  const cwd = await projectOf("a.ts");
  const { files, loaded } = filesOf(cwd);
  expect([files.state, pathsOf(files)]).toEqual(["idle", []]);
  const first = loaded();
  files.refresh();
  expect(files.state).toBe("loading");
  await first;
  await writeFile(join(cwd, "b.ts"), "");
  const second = loaded();
  files.refresh();
  expect([files.state, pathsOf(files)]).toEqual(["loading", ["a.ts"]]);
  await second;
  expect([files.state, pathsOf(files)]).toEqual(["loaded", ["a.ts", "b.ts"]]);
});

it("reports why there are no files", async () => {
  const cwd = await projectOf("a.ts");
  await rm(cwd, { recursive: true });
  const files = await listed(cwd);
  expect([pathsOf(files), files.problem]).toEqual([[], expect.stringMatching(/^Cannot list the files of .+: ENOENT/)]);
});

it("does not call back after it was closed", async () => {
  const { files } = filesOf(await projectOf("a.ts"), {
    onLoaded: () => {
      throw new Error("called back");
    },
  });
  files.refresh();
  files.close();
  files.refresh();
  expect(files.state).toBe("loading");
});
