import type { Editor } from "../model/editor.js";
import type { LiveRegion } from "../screen/painter.js";
import { activityLine, frameMs, queuedLines, toolLiveLines } from "../view/activity.js";
import { editorView } from "../view/editor.js";
import type { View } from "../view/view.js";
import type { ScreenConversation } from "./screen-conversation.js";

const maxTools = 3;
const toolRows = 6;
const maxQueuedRows = 4;
/** Of a short screen, the editor takes at most this part. */
const editorPart = 0.4;
/** From this many rows on, an empty line separates what stands above the editor. */
const roomyRows = 16;
/** With fewer rows, everything but the editor and what it answers is left out. */
const smallRows = 8;
/** How long work may take before a line says so: most commands end at once. */
const quietMs = 200;

/** The lines around the editor. */
interface Surrounding {
  /** Replaces the editor while it is open: a picker, or a question that keys answer. */
  readonly panel?: ((maxRows: number) => string[]) | undefined;
  /** Below the editor: what completes the word that is being written. */
  readonly menu?: ((maxRows: number) => string[]) | undefined;
  readonly prompt: string;
  /** Above the editor, for example a question that the text answers. */
  readonly heading?: string | undefined;
  readonly hint: string;
  readonly status: string;
  /** Whether keys go to the panel, so that there is no cursor. */
  readonly isPanelFocused: boolean;
  readonly isEditorShown: boolean;
}

/** The lines below the transcript, and the cursor in them. */
export function liveRegion(
  conversation: ScreenConversation,
  editor: Editor,
  around: Surrounding,
  { view, rows, now }: { readonly view: View; readonly rows: number; readonly now: number },
): LiveRegion {
  const { state } = conversation;
  const room = Math.max(2, rows - 1);
  const isSmall = rows < smallRows;
  const frame = Math.floor(now / frameMs);
  const rule = isSmall ? [] : [view.theme.dim("─".repeat(view.columns))];
  const status = isSmall ? [] : [around.status];
  const edited = around.isEditorShown
    ? editorView(editor, view, { maxRows: Math.max(1, Math.floor(rows * editorPart)), prompt: around.prompt })
    : undefined;
  const heading = around.heading === undefined ? [] : [around.heading];
  const gap = rows < roomyRows ? [] : [""];
  const fixed = gap.length + rule.length + status.length + heading.length + (edited?.lines.length ?? 0);
  const menu = around.menu?.(Math.max(1, room - fixed - 1)) ?? [];
  const panelRows = around.panel?.(Math.max(2, room - fixed - gap.length - menu.length)) ?? [];
  const panel = panelRows.length === 0 ? [] : [...gap, ...panelRows];
  let left = room - fixed - menu.length - panel.length;
  const take = (lines: string[], most = left): string[] => {
    const taken = lines.slice(0, Math.max(0, Math.min(most, left)));
    left -= taken.length;
    return taken;
  };
  const inputs = conversation.waiting.map(({ text, kind }) => ({ text, kind }));
  const queued = take(inputs.length === 0 ? [] : queuedLines(inputs, view), maxQueuedRows);
  // An open question says by itself what the turn waits for.
  const activity = panel.length > 0 && state.requests.length > 0 ? undefined : state.activity;
  const elapsedMs = activity === undefined ? 0 : now - activity.since;
  const hasActivity = activity !== undefined && elapsedMs >= quietMs;
  const waits = hasActivity ? [activityLine({ label: activity.label, elapsedMs, frame, hint: around.hint }, view)] : [];
  const active = take(waits.length === 0 ? [] : ["", ...waits].slice(isSmall ? 1 : 0));
  const running = state.runningTools.filter(({ isStarted }) => isStarted);
  const tools = running.slice(-maxTools).flatMap(({ title, tail, startedAt }) => {
    const elapsed = now - startedAt;
    return elapsed < quietMs
      ? []
      : toolLiveLines({ title, tail, elapsedMs: elapsed, frame }, view, Math.min(toolRows, Math.floor(room / 4)));
  });
  const shownTools = take(tools.length === 0 ? [] : ["", ...tools]);
  const open = left > 0 ? conversation.transcript.openLines(view, left) : [];
  const above = [...open, ...shownTools, ...active, ...queued, ...panel, ...gap, ...rule, ...heading];
  const lines = [...above, ...(edited?.lines ?? []), ...menu, ...status];
  if (edited === undefined || around.isPanelFocused) return { lines };
  return { lines, cursor: { row: above.length + edited.cursor.row, column: edited.cursor.column } };
}
