import { nearestName } from "../../../base/text/nearest-name.js";
import { visible } from "../../../base/text/visible.js";
import { knownModels } from "../../../config/models/models.js";
import { providerNames, vendorOf } from "../../../config/providers/vendors.js";
import { ApprovalPolicy, SandboxMode } from "../../../messages/tools/policy.js";
import { printLines, type SlashCall, type Then } from "./slash-call.js";

export async function changeModel({ context, current, text, screen }: SlashCall): Promise<Then> {
  const { provider, model: present } = current.labels;
  if (text === "" && screen === undefined) {
    await printLines(context, [`Model: ${present} (${provider})`, "To change it: /model <name>"]);
    return "stay";
  }
  const model = text === "" ? await screen?.choose("model") : text;
  if (model === undefined) return "stay";
  const known = knownModels(current.workspace.config.models).map(({ id }) => id);
  await current.change({ model });
  const nearest = known.includes(model) ? undefined : nearestName(model, known);
  const hint =
    nearest === undefined || nearest === model ? [] : [`cody does not know this model. Did you mean ${nearest}?`];
  await printLines(context, [`Model of the next turn: ${visible(model)}`, ...hint]);
  return "stay";
}

export async function changeProvider({ context, current, text, screen }: SlashCall): Promise<Then> {
  const { config } = current.workspace;
  if (text === "" && screen === undefined) {
    await printLines(context, [`Provider: ${current.labels.provider}`, "To change it: /provider <name> [model]"]);
    return "stay";
  }
  const words = text === "" ? await screen?.choose("provider") : text;
  if (words === undefined) return "stay";
  const [name = "", chosen = vendorOf(name)?.model] = words.split(/\s+/);
  const known = providerNames(config.providers);
  if (!known.includes(name) && current.labels.provider !== name) {
    const nearest = nearestName(name, known);
    const hint = nearest === undefined ? `Known: ${known.join(", ")}` : `Did you mean ${nearest}?`;
    await context.tell(`✗ Unknown provider ${visible(name)}. ${hint}`);
    return "stay";
  }
  await current.change({ provider: name, ...(chosen === undefined ? {} : { model: chosen }) });
  await printLines(context, [`Provider: ${current.labels.provider} (${current.labels.model})`]);
  return "stay";
}

export async function approvals({ context, current, text, screen }: SlashCall): Promise<Then> {
  if (text === "" && screen === undefined) {
    const now = `Approvals: ${current.settings.approvalPolicy}`;
    await printLines(context, [now, "To change it: /approvals on-request, untrusted or never"]);
    return "stay";
  }
  const name = text === "" ? await screen?.choose("approvals") : text;
  if (name === undefined) return "stay";
  const policy = ApprovalPolicy.safeParse(name).data;
  if (policy === undefined) {
    await context.tell(`✗ Unknown approval policy ${visible(name)}. Policies: on-request, untrusted, never`);
    return "stay";
  }
  await current.change({ approvalPolicy: policy });
  await printLines(context, [`Approvals: ${policy}`]);
  return "stay";
}

export async function sandbox({ context, current, text, screen }: SlashCall): Promise<Then> {
  if ((text === "" && screen === undefined) || text === "status") {
    const { sandboxCommand } = await import("../../commands/tools/sandbox.js");
    await sandboxCommand({ ...context, args: ["status"] });
    return "stay";
  }
  const name = text === "" ? await screen?.choose("sandbox") : text;
  if (name === undefined) return "stay";
  const mode = SandboxMode.safeParse(name).data;
  if (mode === undefined) {
    await context.tell(`✗ Unknown sandbox mode ${visible(name)}. Modes: ${SandboxMode.options.join(", ")}, or status`);
    return "stay";
  }
  await current.change({ sandbox: mode });
  await printLines(context, [`Sandbox of the next turn: ${mode}`]);
  return "stay";
}

// These commands of the command line work on the configuration of the project, not on the conversation.

export async function permissions({ context, text, screen }: SlashCall): Promise<Then> {
  if (text === "" && screen !== undefined) {
    await screen.pick("permissions");
    return "stay";
  }
  const { permissionsCommand } = await import("../../commands/settings/permissions.js");
  const flags = { ...context.flags, dryRun: false, project: false };
  await permissionsCommand({ ...context, flags, args: firstAndRest(text) });
  return "stay";
}

export async function knowledge({ context, text }: SlashCall): Promise<Then> {
  const { knowledgeCommand } = await import("../../commands/tools/knowledge.js");
  const flags = { ...context.flags, all: false, dryRun: false };
  await knowledgeCommand({ ...context, flags, args: firstAndRest(text) });
  return "stay";
}

export async function hooks({ context }: SlashCall): Promise<Then> {
  const { hooksCommand } = await import("../../commands/tools/hooks.js");
  await hooksCommand({ ...context, args: [] });
  return "stay";
}

/** The action, and its text as one argument. */
function firstAndRest(text: string): string[] {
  const [, first = "", rest = ""] = /^(\S*)\s*([^]*)$/.exec(text) ?? [];
  return [first, rest].filter((part) => part !== "");
}
