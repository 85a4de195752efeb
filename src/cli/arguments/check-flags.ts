import { usageError } from "../command-error.js";

interface KnownFlag {
  readonly rawName: string;
  readonly isBoolean?: boolean;
}

/** Looks at the flags as they were typed: cac forgives some mistakes and cannot name others as they were spelled. */
export function checkFlags(argv: readonly string[], known: readonly KnownFlag[]): void {
  const end = argv.indexOf("--");
  for (const argument of argv.slice(0, end === -1 ? undefined : end)) {
    if (argument.startsWith("-") && argument !== "-") checkFlag(argument, known);
  }
}

function checkFlag(argument: string, known: readonly KnownFlag[]): void {
  const [flag = argument] = argument.split("=", 1);
  const spellings = known.flatMap(spellingsOf);
  if (!spellings.some(({ spelling }) => spelling === flag)) {
    const near = spellings.find(({ spelling }) => isNear(spelling, flag))?.spelling;
    const text = 'For a text that begins with a dash: cody chat -- "-…"';
    throw usageError(`Unknown option ${flag}`, near === undefined ? text : `Did you mean ${near}?`, "See: cody --help");
  }
  const takesNoValue = spellings.some(({ spelling, isBoolean }) => spelling === flag && isBoolean);
  if (takesNoValue && flag !== argument) throw usageError(`${flag} takes no value`);
}

function spellingsOf({ rawName, isBoolean }: KnownFlag): { spelling: string; isBoolean: boolean }[] {
  const names = rawName.replace(/[<[].*$/, "").split(",");
  return names.map((name) => ({ spelling: name.trim(), isBoolean: isBoolean === true }));
}

/** The same letters but for dashes and case, or one the beginning of the other. */
function isNear(spelling: string, flag: string): boolean {
  const [a, b] = [bare(spelling), bare(flag)];
  return b.length > 1 && a.length > 1 && (a.startsWith(b) || b.startsWith(a));
}

function bare(flag: string): string {
  return flag.replaceAll("-", "").toLowerCase();
}
