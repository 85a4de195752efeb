import { nearestName } from "../../../base/text/nearest-name.js";
import { visible } from "../../../base/text/visible.js";
import { knownModels } from "../../../config/models/models.js";
import { providerNames, vendorOf } from "../../../config/providers/vendors.js";
import { ApprovalPolicy, SandboxMode } from "../../../messages/tools/policy.js";
import { printLines, type SlashCall, type Then } from "./slash-call.js";

export async function changeModel({ context, current, text, screen }: SlashCall): Promise<Then> {
  const { provider, model: present } = current.labels;
  if (text === "") {
    if (screen !== undefined) await screen.pick("model");
    else await printLines(context, [`Model: ${present} (${provider})`, "To change it: /model <name>"]);
    return "stay";
  }
  const known = knownModels(current.workspace.config.models).map(({ id }) => id);
  await current.change({ model: text });
  const nearest = known.includes(text) ? undefined : nearestName(text, known);
  const hint =
    nearest === undefined || nearest === text ? [] : [`cody does not know this model. Did you mean ${nearest}?`];
  await printLines(context, [`Model of the next turn: ${visible(text)}`, ...hint]);
  return "stay";
}

export async function changeProvider({ context, current, text, screen }: SlashCall): Promise<Then> {
  const { config } = current.workspace;
  if (text === "") {
    if (screen !== undefined) await screen.pick("provider");
    else await printLines(context, [`Provider: ${current.labels.provider}`, "To change it: /provider <name> [model]"]);
    return "stay";
  }
  const [name = "", chosen = vendorOf(name)?.model] = text.split(/\s+/);
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
  if (text === "" && screen !== undefined) {
    await screen.pick("approvals");
    return "stay";
  }
  const policy = ApprovalPolicy.safeParse(text).data;
  if (policy !== undefined) await current.change({ approvalPolicy: policy });
  else if (text !== "") {
    await context.tell(`✗ Unknown approval policy ${visible(text)}. Policies: on-request, untrusted, never`);
    return "stay";
  }
  const lines = [`Approvals: ${policy ?? current.settings.approvalPolicy}`];
  await printLines(
    context,
    text === "" ? [...lines, "To change it: /approvals on-request, untrusted or never"] : lines,
  );
  return "stay";
}

export async function sandbox({ context, current, text, screen }: SlashCall): Promise<Then> {
  if (text === "" && screen !== undefined) {
    await screen.pick("sandbox");
    return "stay";
  }
  if (text === "" || text === "status") {
    const { sandboxCommand } = await import("../../commands/tools/sandbox.js");
    await sandboxCommand({ ...context, args: ["status"] });
    return "stay";
  }
  const mode = SandboxMode.safeParse(text).data;
  if (mode === undefined) {
    await context.tell(`✗ Unknown sandbox mode ${visible(text)}. Modes: ${SandboxMode.options.join(", ")}, or status`);
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
