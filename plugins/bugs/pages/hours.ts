/** The hours under a chart, in the service's time zone. */
const HOUR_MS = 3_600_000;

/** `20 Nov, 09:00` for each of the last `length` hours, oldest first, the running one last. */
export function hourTitles(now: number, length: number, timeZone: string): string[] {
  const format = new Intl.DateTimeFormat('en-GB', {
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    timeZone,
  });
  const newest = Math.floor(now / HOUR_MS) * HOUR_MS;
  return Array.from({ length }, (_, i) => format.format(newest - (length - 1 - i) * HOUR_MS));
}
