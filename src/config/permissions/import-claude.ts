import { isRecord } from "../../base/is-record.js";
import { RuleDecision } from "../../messages/tools/permissions.js";
import type { ImportedRule } from "./import-codex.js";

/** Reads the `permissions` of a settings file of Claude Code. Paths that depend on that file's place are reported. */
export function importClaudeSettings(settings: unknown): ImportedRule[] {
  const permissions = isRecord(settings) && isRecord(settings["permissions"]) ? settings["permissions"] : {};
  return RuleDecision.options.flatMap((decision) => {
    const rules = permissions[decision];
    const texts = Array.isArray(rules) ? rules.filter((rule): rule is string => typeof rule === "string") : [];
    return texts.map((source): ImportedRule => {
      const mapped = mappedRule(source, decision);
      return "rule" in mapped ? { ok: true, source, decision, rule: mapped.rule } : { ok: false, source, ...mapped };
    });
  });
}

type Mapped = { readonly rule: string } | { readonly reason: string };

function mappedRule(source: string, decision: RuleDecision): Mapped {
  const [, tool = "", specifier] = /^([A-Za-z_][\w-]*)(?:\((.*)\))?$/s.exec(source.trim()) ?? [];
  if (tool === "Bash") return commandRule(specifier, decision);
  if (tool === "Read" || tool === "Edit" || tool === "Write") {
    return pathRule(tool === "Read" ? "read" : "write", specifier, decision);
  }
  const [, server, name] = /^mcp__([\w-]+?)(?:__([\w*-]+))?$/.exec(source.trim()) ?? [];
  if (server !== undefined) return { rule: `tool:mcp__${server}__${name ?? "*"}` };
  return { reason: `cody has no tool ${tool}` };
}

function commandRule(specifier: string | undefined, decision: RuleDecision): Mapped {
  if (specifier === undefined || specifier === "*") {
    return decision === "allow" ? { reason: "it would allow every command" } : { rule: "tool:shell" };
  }
  const [, words] = /^(.*?)(?::\*| \*)$/s.exec(specifier) ?? [];
  const text = words ?? specifier;
  if (/[*\\]/.test(text)) return { reason: "a * stands only at the end of a rule" };
  return { rule: words === undefined ? text : `${text} *` };
}

function pathRule(kind: "read" | "write", specifier: string | undefined, decision: RuleDecision): Mapped {
  if (specifier === undefined) {
    return decision === "allow" ? { reason: "it would allow every path" } : { rule: `${kind}:/` };
  }
  if (/[?[\]!{}]/.test(specifier)) return { reason: "only * and ** are patterns" };
  if (specifier.startsWith("//")) return { rule: `${kind}:${specifier.slice(1)}` };
  if (specifier.startsWith("~/") || specifier.startsWith("**/")) return { rule: `${kind}:${specifier}` };
  // As in .gitignore, a name without a slash is found in every folder.
  if (!specifier.includes("/")) return { rule: `${kind}:**/${specifier}` };
  return { reason: "its path depends on the folder of the settings" };
}
