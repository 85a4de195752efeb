/** Wraps a sequence that tmux would drop, so that it reaches the terminal around tmux. Without tmux it stays as it is. */
export function passThroughTmux(sequence: string, { TMUX }: Readonly<Record<string, string | undefined>>): string {
  return TMUX === undefined ? sequence : `\u001bPtmux;${sequence.replaceAll("\u001b", "\u001b\u001b")}\u001b\\`;
}
