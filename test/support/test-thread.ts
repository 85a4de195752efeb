/** The built form of a file in `test/support/threads`. */
export function testThread(name: string): URL {
  return new URL(`../../build/test-threads/${name}.js`, import.meta.url);
}
