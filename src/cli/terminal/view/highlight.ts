import type { HLJSApi, LanguageFn } from "highlight.js";
import { breakRuns, type Run } from "./rows.js";
import type { Style, Theme, View } from "./view.js";

type Loader = () => Promise<{ readonly default: LanguageFn }>;

/** The languages that are highlighted, by the names of their files, with the other names for them. */
const languages: Readonly<Record<string, readonly [load: Loader, aliases: string]>> = {
  bash: [() => import("highlight.js/lib/languages/bash"), "sh zsh shell shellscript"],
  c: [() => import("highlight.js/lib/languages/c"), "h"],
  clojure: [() => import("highlight.js/lib/languages/clojure"), "clj edn"],
  cmake: [() => import("highlight.js/lib/languages/cmake"), ""],
  cpp: [() => import("highlight.js/lib/languages/cpp"), "c++ cc cxx hpp hh hxx"],
  csharp: [() => import("highlight.js/lib/languages/csharp"), "cs c#"],
  css: [() => import("highlight.js/lib/languages/css"), ""],
  dart: [() => import("highlight.js/lib/languages/dart"), ""],
  dockerfile: [() => import("highlight.js/lib/languages/dockerfile"), "docker containerfile"],
  elixir: [() => import("highlight.js/lib/languages/elixir"), "ex exs"],
  erlang: [() => import("highlight.js/lib/languages/erlang"), "erl"],
  fsharp: [() => import("highlight.js/lib/languages/fsharp"), "fs f#"],
  go: [() => import("highlight.js/lib/languages/go"), "golang"],
  graphql: [() => import("highlight.js/lib/languages/graphql"), "gql"],
  haskell: [() => import("highlight.js/lib/languages/haskell"), "hs"],
  ini: [() => import("highlight.js/lib/languages/ini"), "toml conf cfg properties"],
  java: [() => import("highlight.js/lib/languages/java"), ""],
  javascript: [() => import("highlight.js/lib/languages/javascript"), "js jsx mjs cjs"],
  json: [() => import("highlight.js/lib/languages/json"), "jsonc json5 jsonl"],
  julia: [() => import("highlight.js/lib/languages/julia"), "jl"],
  kotlin: [() => import("highlight.js/lib/languages/kotlin"), "kt kts"],
  less: [() => import("highlight.js/lib/languages/less"), ""],
  lua: [() => import("highlight.js/lib/languages/lua"), ""],
  makefile: [() => import("highlight.js/lib/languages/makefile"), "make mk"],
  markdown: [() => import("highlight.js/lib/languages/markdown"), "md"],
  nginx: [() => import("highlight.js/lib/languages/nginx"), ""],
  nix: [() => import("highlight.js/lib/languages/nix"), ""],
  objectivec: [() => import("highlight.js/lib/languages/objectivec"), "objc mm objective-c"],
  ocaml: [() => import("highlight.js/lib/languages/ocaml"), "ml"],
  perl: [() => import("highlight.js/lib/languages/perl"), "pl pm"],
  php: [() => import("highlight.js/lib/languages/php"), ""],
  powershell: [() => import("highlight.js/lib/languages/powershell"), "ps1 pwsh"],
  protobuf: [() => import("highlight.js/lib/languages/protobuf"), "proto"],
  python: [() => import("highlight.js/lib/languages/python"), "py"],
  r: [() => import("highlight.js/lib/languages/r"), ""],
  ruby: [() => import("highlight.js/lib/languages/ruby"), "rb"],
  rust: [() => import("highlight.js/lib/languages/rust"), "rs"],
  scala: [() => import("highlight.js/lib/languages/scala"), ""],
  scss: [() => import("highlight.js/lib/languages/scss"), "sass"],
  sql: [() => import("highlight.js/lib/languages/sql"), "postgres postgresql mysql sqlite"],
  swift: [() => import("highlight.js/lib/languages/swift"), ""],
  typescript: [() => import("highlight.js/lib/languages/typescript"), "ts tsx mts cts"],
  vim: [() => import("highlight.js/lib/languages/vim"), ""],
  xml: [() => import("highlight.js/lib/languages/xml"), "html xhtml svg vue"],
  yaml: [() => import("highlight.js/lib/languages/yaml"), "yml"],
};

/** The languages that occur inside of others. */
const embedded: Readonly<Record<string, readonly string[]>> = { xml: ["css", "javascript"] };

/** Longer code takes too long to highlight, and is data rather than code. */
const maxLineChars = 2_000;
const maxChars = 50_000;

const token = /<span class="([^"]*)">|<\/span>|&(?:amp|lt|gt|quot|#x27);|[^<&]+|[<&]/g;
const entities: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#x27;": "'",
};

let names: ReadonlyMap<string, string> | undefined;
let highlighter: HLJSApi | undefined;
let loading: Promise<void> | undefined;
const requested = new Set<string>();

/** Resolves when the languages of all code so far are loaded; undefined if none is being loaded. Never rejects. */
export function languagesLoaded(): Promise<void> | undefined {
  return loading;
}

/** Loads what code in this language needs. Until then `codeLines` has no colours. */
export function requestLanguage(info: string): void {
  const name = nameOf(info);
  if (name === undefined || requested.has(name)) return;
  const all = [name, ...(embedded[name] ?? [])].filter((each) => !requested.has(each));
  for (const each of all) requested.add(each);
  const before = loading;
  const load = async (): Promise<void> => {
    await before;
    // Code without colours is better than no answer.
    await Promise.all(all.map(loadLanguage)).catch(() => undefined);
    if (loading === loaded) loading = undefined;
  };
  const loaded = load();
  loading = loaded;
}

/**
 * Lines of code as rows, highlighted if the language is loaded. The lines have passed `cleanLine`. `info` is what
 * follows the opening fence.
 */
export function codeLines(lines: readonly string[], info: string, { columns, theme }: View): string[] {
  return highlighted(lines, info, theme).flatMap((runs) => breakRuns(runs, columns));
}

function highlighted(lines: readonly string[], info: string, theme: Theme): Run[][] {
  if (isDiff(info)) return lines.map((text) => [{ text, style: diffStyle(text, theme) }]);
  const name = nameOf(info);
  const isTooLong = lines.some((line) => line.length > maxLineChars);
  if (theme.name === "none" || name === undefined || isTooLong) return lines.map(plainRun);
  if (highlighter?.getLanguage(name) === undefined) return lines.map(plainRun);
  const code = lines.join("\n");
  if (code.length > maxChars) return lines.map(plainRun);
  return runsOf(highlighter.highlight(code, { language: name, ignoreIllegals: true }).value, theme);
}

function plainRun(text: string): Run[] {
  return [{ text }];
}

/** Reads the HTML of highlight.js. */
function runsOf(html: string, theme: Theme): Run[][] {
  let line: Run[] = [];
  const lines = [line];
  const scopes: (string | undefined)[] = [];
  const styles = new Map<string, Style>();
  let style: Style | undefined;
  for (const [text, className] of html.matchAll(token)) {
    if (className === undefined && text !== "</span>") {
      for (const [index, part] of (entities[text] ?? text).split("\n").entries()) {
        if (index > 0) lines.push((line = []));
        if (part !== "") line.push({ text: part, style });
      }
      continue;
    }
    if (className === undefined) scopes.pop();
    else scopes.push(/^hljs-(\S+)/.exec(className)?.[1] ?? scopes.at(-1));
    const scope = scopes.at(-1);
    style = scope === undefined ? undefined : styles.get(scope);
    if (scope === undefined || style !== undefined) continue;
    style = (part) => theme.syntax(scope, part);
    styles.set(scope, style);
  }
  return lines;
}

function isDiff(info: string): boolean {
  return /^(?:diff|patch)\b/i.test(info.trim());
}

function diffStyle(line: string, theme: Theme): Style | undefined {
  if (line.startsWith("+") && !line.startsWith("+++")) return theme.added;
  if (line.startsWith("-") && !line.startsWith("---")) return theme.removed;
  return /^(?:@@|diff |index |\+\+\+|---)/.test(line) ? theme.dim : undefined;
}

function nameOf(info: string): string | undefined {
  const word = /^[^\s{,:]+/.exec(info.trim())?.[0].toLowerCase();
  if (word === undefined) return undefined;
  names ??= new Map(
    Object.entries(languages).flatMap(([name, [, aliases]]) =>
      [name, ...aliases.split(" ")].map((alias) => [alias, name] as const),
    ),
  );
  return names.get(word);
}

async function loadLanguage(name: string): Promise<void> {
  const load = languages[name]?.[0];
  if (load === undefined) return;
  const [core, language] = await Promise.all([import("highlight.js/lib/core"), load()]);
  highlighter = core.default;
  highlighter.registerLanguage(name, language.default);
}
