/** A time in the local time zone. Formatted by hand, because the first use of Intl takes as long as a short command. */
export function localTime(milliseconds: number): string {
  const date = new Date(milliseconds);
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

function two(number: number): string {
  return number < 10 ? `0${number}` : `${number}`;
}
