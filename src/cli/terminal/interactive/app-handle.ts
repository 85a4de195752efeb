import type { Editor } from "../model/editor.js";
import type { ThemeChoice } from "../view/themes.js";
import type { View } from "../view/view.js";
import type { Entry } from "./conversation-state.js";
import type { Overlay } from "./overlay.js";
import type { ScreenConversation } from "./screen-conversation.js";

/** The parts of the screen that commands use. */
export interface AppHandle {
  readonly editor: Editor;
  open(overlay: Overlay | undefined): void;
  view(): View;
  /** Adds to the transcript of the conversation on the screen. */
  add(entry: Entry): void;
  print(lines: readonly string[]): void;
  refresh(): void;
  /** A sequence that draws nothing. */
  write(sequence: string): void;
  setTheme(choice: ThemeChoice): void;
  switchTo(conversation: ScreenConversation): void;
  leave(): void;
}
