/**
 * Thread entries are built files, because Node 20 cannot load TypeScript in a Worker. They are found the same way
 * from the sources (tests) and from the installed package: beside whichever of `src` or `dist` this code runs from.
 */
export function entryUrl(name: string): URL {
  const root = /^(.*)\/(?:src|dist)\//.exec(import.meta.url)?.[1];
  if (root === undefined) throw new Error(`no package around ${import.meta.url}`);
  return new URL(`${root}/dist/workers/entries/${name}.cjs`);
}
