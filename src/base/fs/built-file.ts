/**
 * Returns the URL of a file that the build makes. It is found the same way from the sources (tests) and from the
 * installed package: in the `dist` beside whichever of `src` or `dist` this code runs from.
 */
export function builtFile(path: string, from: string = import.meta.url): URL {
  const root = /^(.*)\/(?:src|dist)\//.exec(from)?.[1];
  if (root === undefined) {
    throw new Error(`Cannot find cody's own files from ${from}. If you bundle your program, mark cody as external`);
  }
  return new URL(`${root}/dist/${path}`);
}
