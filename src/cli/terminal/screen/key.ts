/** One thing that a person did at the keyboard, decoded from the terminal's bytes. */
export type Key =
  | {
      readonly type: "key";
      /** A printable character, or a name: `enter`, `tab`, `escape`, `backspace`, `delete`, `up`, `home`, `pageup`, `f1`. */
      readonly name: string;
      readonly ctrl: boolean;
      readonly alt: boolean;
      readonly shift: boolean;
    }
  /** Text that arrived as one bracketed paste, line breaks as `\n`. */
  | { readonly type: "paste"; readonly text: string };
