import { foldLines, fileLines } from "../../../actors/conversation/store/load-rollout.js";
import { WireApi } from "../../../messages/settings/config.js";
import { type TypeChanges, type WireChanges, wireChanges } from "../../../providers/normalize/normalize-history.js";
import { usageError } from "../../command-error.js";
import { type ContextOf, printResult } from "../../context.js";
import { findSavedRollout } from "../../conversations/choose-conversation.js";

/** Reports for each wire API which items would be sent unchanged, changed, or left out. */
export async function checkCommand(context: ContextOf<"check">): Promise<number> {
  const apis = apisOf(context.flags.wire);
  const { id, path } = await findSavedRollout(context);
  context.about(id);
  const { state } = await foldLines(fileLines(path, id));
  const model = context.flags.model ?? state.turnContext?.model ?? state.metadata?.model ?? "unknown";
  const wires = apis.map((api) => wireChanges(api, state.history, model));
  await printResult(context, {
    text: [`${id}: ${state.history.length} item(s), for ${model}`, ...wires.flatMap(wireLines)].join("\n"),
    json: { id, model, items: state.history.length, wires },
  });
  return 0;
}

function apisOf(text: string | undefined): readonly WireApi[] {
  if (text === undefined) return WireApi.options;
  const { data } = WireApi.safeParse(text);
  if (data === undefined) throw usageError(`--wire: expected ${WireApi.options.join(", ")}, not '${text}'`);
  return [data];
}

function wireLines({ api, sent, types }: WireChanges): string[] {
  const changes = types.flatMap((each) => changesText(each) ?? []);
  return ["", `${api}: ${sent} item(s) sent`, ...(changes.length === 0 ? ["  all unchanged"] : changes)];
}

function changesText({ type, changed, leftOut, added }: TypeChanges): string | undefined {
  const parts = Object.entries({ changed, "left out": leftOut, added }).filter(([, count]) => count > 0);
  return parts.length === 0 ? undefined : `  ${type}: ${parts.map(([what, count]) => `${count} ${what}`).join(", ")}`;
}
