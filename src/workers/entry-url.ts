/**
 * Thread entries are built files, because Node 20 cannot load TypeScript in a Worker. They are found the same way from
 * the sources (tests) and from the installed package: in the `dist` beside whichever of `src` or `dist` this code runs
 * from.
 */
export function entryUrl(name: string, from: string = import.meta.url): URL {
  const root = /^(.*)\/(?:src|dist)\//.exec(from)?.[1];
  if (root === undefined) {
    throw new Error(`Cannot find cody's worker files from ${from}. If you bundle your program, mark cody as external`);
  }
  return new URL(`${root}/dist/workers/entries/${name}.cjs`);
}
