/** A time as the clock on the wall shows it. By hand: the first use of Intl costs as long as a short command may take. */
export function localTime(milliseconds: number): string {
  const date = new Date(milliseconds);
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

function two(number: number): string {
  return number < 10 ? `0${number}` : `${number}`;
}
