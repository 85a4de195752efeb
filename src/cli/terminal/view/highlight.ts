/** Resolves when the languages of all code so far are loaded; undefined if none is being loaded. Never rejects. */
export function languagesLoaded(): Promise<void> | undefined {
  return undefined;
}
