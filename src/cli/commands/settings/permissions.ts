import { readdir } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { InvalidInputError } from "../../../base/errors.js";
import { readRegular } from "../../../base/fs/open-regular.js";
import { systemReason } from "../../../base/system-error.js";
import { visible } from "../../../base/text/visible.js";
import { importClaudeSettings } from "../../../config/permissions/import-claude.js";
import { type ImportedRule, importCodexRules } from "../../../config/permissions/import-codex.js";
import { addRule, readPermissions, removeRule, textOf } from "../../../config/permissions/permissions-file.js";
import { resolveClaudeHome } from "../../../config/paths.js";
import { RuleDecision, type RuleLists, type WrittenRule } from "../../../messages/tools/permissions.js";
import { compileRules, type Rule } from "../../../tools/policy/rules.js";
import { CommandError, exitCodes, usageError } from "../../command-error.js";
import { type ContextOf, printResult } from "../../context.js";
import { projectPolicy } from "./project-policy.js";

type Context = ContextOf<"permissions">;

const usage =
  "Usage: cody permissions [list | test COMMAND | allow RULE | ask RULE | deny RULE | remove RULE | import [FILE]]";

const maxImportBytes = 1_000_000;

export async function permissionsCommand(context: Context): Promise<number> {
  const [action = "list", ...words] = context.args;
  const text = words.join(" ");
  const decision = RuleDecision.safeParse(action).data;
  if (action === "list" && words.length === 0) return await listRules(context);
  if (action === "import" && words.length <= 1) return await importRules(context, words[0]);
  if (text === "") throw usageError(usage);
  if (action === "test") return await testCommand(context, text);
  if (action === "remove") return await remove(context, text);
  if (decision === undefined) throw usageError(`Unknown action '${action}'`, usage);
  return await add(context, decision, text);
}

async function listRules(context: Context): Promise<number> {
  const { rules, root } = await projectPolicy(context);
  if (rules.problem !== undefined) throw new CommandError(rules.problem, exitCodes.failed, [brokenHint]);
  const all = [...rules.user, ...rules.project];
  const rows = all.map(
    (rule) => `${rule.decision.padEnd("allow".length)}  ${visible(rule.text)}  (${visible(rule.source)})`,
  );
  await printResult(context, {
    text: rows.length === 0 ? "No rules. To add one: cody permissions allow 'npm test'" : rows.join("\n"),
    json: {
      project: root,
      rules: all.map(({ decision, text, source, because }) => ({ decision, text, source, because })),
    },
  });
  return 0;
}

const brokenHint = "Until the file is fixed, everything needs approval";

async function testCommand(context: Context, text: string): Promise<number> {
  const policy = await projectPolicy(context);
  const decided = await policy.judge(text);
  const words = { run: "runs without a question", ask: "needs approval", refuse: "is refused" }[decided.type];
  const where = decided.type === "refuse" ? "" : decided.isOutside ? ", outside a sandbox" : ", in the sandbox";
  const reason = decided.type === "run" ? [] : [`because: ${visible(decided.reason)}`];
  const warning = policy.rules.problem === undefined ? [] : [brokenHint];
  const { type: decision, ...facts } = decided;
  await printResult(context, {
    text: [`${words}${where}`, ...reason, ...warning].join("\n"),
    json: { decision, ...facts },
  });
  return 0;
}

async function add(context: Context, decision: RuleDecision, text: string): Promise<number> {
  const { match = [], notMatch = [] } = context.flags;
  const rule: WrittenRule =
    match.length + notMatch.length === 0 ? text : { rule: text, match: [...match], notMatch: [...notMatch] };
  await checkRule(context, { [decision]: [rule] });
  const project = await projectOf(context);
  const added = await explained(addRule(context.home, { decision, project }, rule));
  await printResult(context, {
    text: `${added ? "✓ Added" : "Already there"}: ${decision} ${visible(text)}${placeText(project)}`,
    json: { added, decision, rule, project: project ?? null },
  });
  return 0;
}

async function remove(context: Context, text: string): Promise<number> {
  const project = await projectOf(context);
  const decisions: RuleDecision[] = [];
  for (const decision of RuleDecision.options) {
    if (await explained(removeRule(context.home, { decision, project }, text))) decisions.push(decision);
  }
  if (decisions.length === 0) {
    const hint =
      project === undefined
        ? "For a rule of this project, add --project"
        : "For a rule of all projects, leave out --project";
    throw new CommandError(`No rule "${visible(text)}"${placeText(project)}`, exitCodes.failed, [hint]);
  }
  await printResult(context, {
    text: decisions.map((decision) => `✓ Removed: ${decision} ${visible(text)}${placeText(project)}`).join("\n"),
    json: { removed: decisions, rule: text, project: project ?? null },
  });
  return 0;
}

/** Imports what has an exact equal, and reports the rest. */
async function importRules(context: Context, path: string | undefined): Promise<number> {
  const files = path === undefined ? await knownFiles(context) : [resolve(context.terminal.cwd, path)];
  const project = await projectOf(context);
  const existing = await explained(
    readPermissions(context.home).then((read) => (read.ok ? read.rules : fail(read.problem))),
  );
  const lists = project === undefined ? existing : (existing.projects?.[project] ?? {});
  const results: (ImportedRule & { readonly file: string; readonly isNew: boolean })[] = [];
  for (const file of files) {
    for (const found of await readForeign(file)) {
      const checked = found.ok ? await checkedRule(context, found) : found;
      const isKnown =
        checked.ok && (lists[checked.decision] ?? []).some((each) => textOf(each) === textOf(checked.rule));
      results.push({ ...checked, file, isNew: checked.ok && !isKnown });
      if (!checked.ok || isKnown || context.flags.dryRun) continue;
      await explained(addRule(context.home, { decision: checked.decision, project }, checked.rule));
    }
  }
  const rows = results.map((each) =>
    each.ok
      ? `${each.isNew ? "✓" : "="} ${each.decision} ${visible(textOf(each.rule))}`
      : `✗ ${visible(each.source)}: ${visible(each.reason)}`,
  );
  const imported = results.filter(({ isNew }) => isNew).length;
  const verb = context.flags.dryRun ? "would be imported" : "imported";
  const total = `${imported} ${imported === 1 ? "rule" : "rules"} ${verb}, ${results.filter(({ ok }) => !ok).length} not`;
  await printResult(context, { text: [...rows, total].join("\n"), json: { files, rules: results } });
  return 0;
}

async function knownFiles({ codexHome, terminal }: Context): Promise<string[]> {
  const folder = codexHome === undefined ? undefined : join(codexHome, "rules");
  const names = folder === undefined ? [] : await readdir(folder).catch(() => []);
  const claudeHome = resolveClaudeHome({ env: terminal.env, homedir: () => terminal.homedir });
  return [
    ...names.filter((name) => name.endsWith(".rules")).map((name) => join(folder ?? "", name)),
    ...(claudeHome === undefined ? [] : [join(claudeHome, "settings.json")]),
  ];
}

async function readForeign(file: string): Promise<ImportedRule[]> {
  let text: string;
  try {
    text = (await readRegular(file, { links: "follow", maxBytes: maxImportBytes })).toString();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT" && basename(file) === "settings.json") return [];
    throw new CommandError(`Cannot read ${visible(file)}: ${systemReason(error)}`, exitCodes.failed);
  }
  if (file.endsWith(".rules")) return importCodexRules(text);
  try {
    return importClaudeSettings(JSON.parse(text));
  } catch {
    throw new CommandError(`Cannot read ${visible(file)}: it is not JSON`, exitCodes.failed);
  }
}

/** A rule that cody would refuse has no equal. */
async function checkedRule(context: Context, found: Extract<ImportedRule, { ok: true }>): Promise<ImportedRule> {
  try {
    await compiled(context, { [found.decision]: [found.rule] });
    return found;
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    return { ok: false, source: found.source, reason: error.message };
  }
}

async function checkRule(context: Context, lists: RuleLists): Promise<void> {
  await explained(compiled(context, lists));
}

async function compiled(context: Context, lists: RuleLists): Promise<Rule[]> {
  const root = await projectOf(context);
  return compileRules(lists, { source: "permissions.json", root, userHome: context.terminal.homedir });
}

async function projectOf({ flags, projectRoots }: Context): Promise<string | undefined> {
  return flags.project ? (await projectRoots()).realRoot : undefined;
}

function placeText(project: string | undefined): string {
  return project === undefined ? "" : ` (in ${visible(project)})`;
}

function fail(problem: string): never {
  throw new InvalidInputError(problem);
}

async function explained<T>(work: Promise<T>): Promise<T> {
  return await work.catch((error: unknown) => {
    throw error instanceof InvalidInputError ? new CommandError(error.message, exitCodes.failed) : error;
  });
}
