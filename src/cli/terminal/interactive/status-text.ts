import { join } from "node:path";
import { findGitDirectory, readSmall } from "../../../base/git/git-directory.js";
import { limitOf } from "../../../compaction/tokens/compaction-threshold.js";
import { contextWindow } from "../../../config/models/models.js";
import { effectiveGroup } from "../../../config/settings/effective-settings.js";
import type { Config } from "../../../messages/settings/config.js";
import { statusLine } from "../view/status.js";
import type { View } from "../view/view.js";
import type { OpenConversations } from "./open-conversations.js";

const shortCommitChars = 8;

/** The status line of the conversation on the screen. */
export function statusText(
  { current, all }: OpenConversations,
  view: View,
  { homedir, branch }: { readonly homedir: string; readonly branch: string | undefined },
): string {
  const { workspace, state, conversation } = current;
  const { model, effort, cwd, approvalPolicy, sandbox } = current.settings;
  const window = windowOf(workspace.config, model);
  const others = all.filter((each) => each !== current);
  return statusLine(
    {
      model,
      effort: effort ?? undefined,
      folder: cwd === homedir || cwd.startsWith(`${homedir}/`) ? `~${cwd.slice(homedir.length)}` : cwd,
      branch,
      context: { used: state.usage?.last_token_usage.total_tokens ?? 0, ...window },
      cost: state.usage?.cost?.total_usd,
      saved: workspace.config.persistence.enabled && conversation?.rolloutPath !== null && state.isSaved !== false,
      sandbox,
      approvals: approvalPolicy,
      ...(others.length === 0
        ? {}
        : {
            others: {
              running: others.filter(({ state: { isBusy, requests } }) => isBusy && requests.length === 0).length,
              waiting: others.filter((each) => each.state.requests.length > 0 || each.unread > 0).length,
            },
          }),
    },
    view,
  );
}

function windowOf(config: Config, model: string): { readonly window: number; readonly compactAt: number } {
  const entry = config.models?.[model];
  const { tokens, isAssumed } = contextWindow(model, entry?.contextWindow ?? config.contextWindow);
  const { ratio, tokenLimit, reserveTokens } = effectiveGroup(config, "compaction");
  const own = entry?.compaction;
  const settings = {
    ratio: own?.ratio ?? ratio,
    tokenLimit: own?.tokenLimit ?? tokenLimit,
    reserveTokens: own?.reserveTokens ?? reserveTokens,
  };
  return { window: tokens, compactAt: limitOf({ window: tokens, assumed: isAssumed, settings }) };
}

/** The branch that is checked out, or the commit; undefined outside of a repository. */
export async function branchOf(root: string): Promise<string | undefined> {
  const directory = await findGitDirectory(root).catch(() => undefined);
  const head = directory === undefined ? undefined : (await readSmall(join(directory, "HEAD")))?.trim();
  return /^ref: refs\/heads\/(.+)$/.exec(head ?? "")?.[1] ?? head?.slice(0, shortCommitChars);
}
