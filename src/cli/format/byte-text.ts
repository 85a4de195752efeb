const units = ["bytes", "kB", "MB", "GB", "TB"];

/** A size for people: 950 bytes, 1.2 kB, 14 MB. */
export function byteText(bytes: number): string {
  let [value, unit] = [bytes, 0];
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  const shown = unit === 0 || value >= 9.95 ? value.toFixed(0) : value.toFixed(1).replace(/\.0$/, "");
  return `${shown} ${unit === 0 && bytes === 1 ? "byte" : units[unit]}`;
}
