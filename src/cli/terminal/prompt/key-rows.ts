import type { HelpRow } from "../../help-table.js";

/** The keys of the interactive screen, for `/help`. docs/terminal.md describes them. */
export const keyRows: readonly HelpRow[] = [
  ["Enter", "Send; while a turn runs, the model gets it before its next step"],
  ["Tab", "While a turn runs: send it after the turn. In a menu: complete"],
  ["Shift-Enter, Ctrl-J", "New line; also Alt-Enter, or \\ and Enter"],
  ["Up, Down", "Move, or earlier messages; in an empty editor, Up takes back what waits"],
  ["Ctrl-R", "Search earlier messages"],
  ["Esc, Ctrl-C", "Interrupt; what waited returns to the editor"],
  ["Ctrl-C twice", "Exit, in an empty editor; also Ctrl-D"],
  ["Ctrl-O", "Full output of commands, and reasoning"],
  ["Ctrl-G", "Write the message in $EDITOR"],
  ["Ctrl-K", "Command palette, at the end of a line"],
  ["Ctrl-L, Ctrl-Z", "Clear the screen; suspend"],
  ["Alt-1 … Alt-9", "Switch to an open conversation; Alt-N and Alt-P: the next, the one before"],
  ["/ @ # !", "Commands, files and images, earlier conversations, a shell command"],
];
