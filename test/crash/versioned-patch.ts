/** Files that a patch changes together; another one changes its name with each version. */
export const patchedFiles = ["one", "two", "three"];
const bodyLines = 4_000;

/** The content of each file in a version, long enough that writing it takes time. */
export function textOf(version: number): string {
  return `version ${version}\n${"a line that stays\n".repeat(bodyLines)}end of ${version}\n`;
}

/** The patch from a version to the next. */
export function patchOf(version: number): string {
  const chunk = [
    `-version ${version}`,
    `+version ${version + 1}`,
    "@@",
    `-end of ${version}`,
    `+end of ${version + 1}`,
  ];
  return [
    "*** Begin Patch",
    ...patchedFiles.flatMap((name) => [`*** Update File: ${name}`, ...chunk]),
    `*** Update File: moved-${version}`,
    `*** Move to: moved-${version + 1}`,
    ...chunk,
    "*** End Patch",
  ].join("\n");
}
