import { createHash } from "node:crypto";

/** The elements a page may contain. */
const elements = new Set(
  (
    "html head meta title style body div header h1 dl dt dd nav h2 ol li span a main section p article h3 h4 h5 h6 " +
    "details summary code pre blockquote ul table thead tbody tr th td hr br strong em del img footer"
  ).split(" "),
);
const empty = new Set(["meta", "hr", "br", "img"]);
const attributes: Readonly<Record<string, RegExp>> = {
  href: /^(?:#turn-\d+$|https?:\/\/|mailto:)/,
  src: /^data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+$/,
  id: /^turn-\d+$/,
  rel: /^noopener noreferrer nofollow$/,
  start: /^\d+$/,
  ...Object.fromEntries(
    "lang charset name content http-equiv class dir title aria-label alt".split(" ").map((key) => [key, /^/]),
  ),
};

export interface Tag {
  readonly name: string;
  readonly values: Readonly<Record<string, string>>;
}

export interface PageReading {
  readonly tags: readonly Tag[];
  /** Forbidden content; empty for a safe page. */
  readonly problems: readonly string[];
}

/**
 * Reads a page more strictly than any browser: a tag that is not exactly in the form we write is a problem, as is any
 * other `<`, `>` or quote.
 */
export function readPage(page: string): PageReading {
  const problems: string[] = [];
  const tags: Tag[] = [];
  const open: string[] = [];
  const [, style = ""] = /<style>([^<]*)<\/style>/.exec(page) ?? [];
  const begin = "<!doctype html>\n";
  const text = page
    .slice(begin.length)
    .replace(`<style>${style}</style>`, "<style></style>")
    .replaceAll(/<(\/?)([a-z0-9]+)((?: [a-z-]+="[^"<>]*")*)>/g, (_, slash: string, name: string, given: string) => {
      if (slash === "/") {
        if (open.pop() !== name) problems.push(`</${name}> ends nothing`);
        return "";
      }
      if (!empty.has(name)) open.push(name);
      const pairs = [...given.matchAll(/ ([a-z-]+)="([^"]*)"/g)].map(
        ([, key = "", value = ""]) => [key, value] as const,
      );
      const tag = { name, values: Object.fromEntries(pairs) };
      tags.push(tag);
      problems.push(...problemsIn(tag));
      return "";
    });
  if (!page.startsWith(begin)) problems.push("no doctype");
  if (open.length > 0) problems.push(`not ended: ${open.join(" ")}`);
  if (/[<>"']/.test(text)) problems.push("something that is neither text nor a tag of ours");
  return { tags, problems: [...problems, ...problemsOfPolicy(page, tags, style)] };
}

function problemsIn({ name, values }: Tag): string[] {
  const wrong = Object.entries(values).filter(([key, value]) => attributes[key]?.test(value) !== true);
  const isLoose = name === "a" && values["href"]?.startsWith("#") === false && values["rel"] === undefined;
  return [
    ...(elements.has(name) ? [] : [`<${name}>`]),
    ...wrong.map(([key, value]) => `${key}="${value}"`),
    ...(isLoose ? ["a link without rel"] : []),
  ];
}

/** Checks that our own style is the only one and loads nothing, and that the policy precedes any foreign content. */
function problemsOfPolicy(page: string, tags: readonly Tag[], style: string): string[] {
  const hash = createHash("sha256").update(style).digest("base64");
  const policy = `default-src 'none'; style-src 'sha256-${hash}'; img-src data:; base-uri 'none'; form-action 'none'`;
  const metas = tags.filter(({ values }) => values["http-equiv"] === "Content-Security-Policy");
  const isFirst = page.indexOf("Content-Security-Policy") < page.indexOf("<title>");
  return [
    ...(metas.length === 1 && metas[0]?.values["content"] === policy && isFirst ? [] : ["the policy"]),
    ...(/url\(|@import|expression/.test(style) ? ["the style loads something"] : []),
  ];
}
