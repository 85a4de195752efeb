import { stat } from "node:fs/promises";
import { extname, isAbsolute, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const extensions: ReadonlySet<string> = new Set([".png", ".jpg", ".jpeg", ".gif", ".webp"]);
const maxChars = 16_384;
const maxPaths = 20;

interface PathContext {
  readonly cwd: string;
  readonly homedir: string;
}

/**
 * The absolute paths if a text is nothing but paths of existing image files, as a terminal inserts them when files are
 * dropped on it: with quotes, escaped spaces, `file://` or `~`. Undefined for any other text.
 */
export async function imagePaths(text: string, context: PathContext): Promise<string[] | undefined> {
  const trimmed = text.trim();
  if (trimmed === "" || trimmed.length > maxChars) return undefined;
  // A name with spaces may come without any quotes.
  const whole = await imageAt(trimmed, context);
  if (whole !== undefined) return [whole];
  const words = shellWords(trimmed);
  if (words === undefined || words.length > maxPaths) return undefined;
  const found = await Promise.all(words.map((word) => imageAt(word, context)));
  return found.every((path) => path !== undefined) ? found : undefined;
}

async function imageAt(path: string, context: PathContext): Promise<string | undefined> {
  const absolute = absolutePath(path, context);
  if (absolute === undefined || !extensions.has(extname(absolute).toLowerCase())) return undefined;
  const isFile = await stat(absolute).then(
    (stats) => stats.isFile(),
    () => false,
  );
  return isFile ? absolute : undefined;
}

function absolutePath(path: string, { cwd, homedir }: PathContext): string | undefined {
  if (path.includes("\0") || path.includes("\n")) return undefined;
  if (path.startsWith("file://")) return pathOfUrl(path);
  if (path.startsWith("~/")) return join(homedir, path.slice(2));
  return isAbsolute(path) ? path : resolve(cwd, path);
}

function pathOfUrl(url: string): string | undefined {
  try {
    return fileURLToPath(url);
  } catch {
    return undefined;
  }
}

/** Splits at spaces like a shell, with quotes and backslashes; undefined if a quote is not closed. */
function shellWords(text: string): string[] | undefined {
  const words: string[] = [];
  const part = /\s+|'([^']*)'|"((?:[^"\\]|\\[^])*)"|\\([^])|([^\s'"\\]+)/y;
  let word: string | undefined;
  while (part.lastIndex < text.length) {
    const match = part.exec(text);
    if (match === null) return undefined;
    const [, single, double, escaped, plain] = match;
    const piece = single ?? double?.replaceAll(/\\(["\\$`])/g, "$1") ?? escaped ?? plain;
    if (piece !== undefined) word = (word ?? "") + piece;
    else if (word !== undefined) {
      words.push(word);
      word = undefined;
    }
  }
  return word === undefined ? words : [...words, word];
}
