/** A time as the clock on the wall shows it. By hand: the first use of Intl costs as long as a short command may take. */
export function localTime(milliseconds: number): string {
  const date = new Date(milliseconds);
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join("-");
  return `${day} ${[date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(":")}`;
}

function two(number: number): string {
  return String(number).padStart(2, "0");
}
