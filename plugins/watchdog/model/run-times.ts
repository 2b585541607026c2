/**
 * How long a job ran: from `/start` to the next end with the same `rid` (contract 30, pings known from elsewhere).
 * Starts are kept in their monitor as JSON text, `[[rid, ms since 1970], …]`, newest last. Pure.
 */
type Start = [rid: string, at: number];

/** Concurrent runs that are stored; the oldest start is dropped beyond that. */
const MAX_OPEN_RUNS = 20;

const parseStarts = (text: string | null | undefined): Start[] => (text ? (JSON.parse(text) as Start[]) : []);

/** @param rid empty for a job that has one run at a time */
export function addStart(text: string | null | undefined, rid: string, at: number): string {
  const others = parseStarts(text).filter(([known]) => known !== rid);
  return JSON.stringify([...others, [rid, at]].slice(-MAX_OPEN_RUNS));
}

/** @returns the starts without this one, and how long the run took in ms; null: no start is known */
export function removeStart(
  text: string | null | undefined,
  rid: string,
  at: number,
): { starts: string | null; duration_ms: number | null } {
  const starts = parseStarts(text);
  const start = starts.find(([known]) => known === rid);
  // An end without `rid` cannot be told from that of another run: none is under way after it.
  const left = rid === '' ? [] : starts.filter((one) => one !== start);
  if (start === undefined) return { starts: left.length === 0 ? null : (text ?? null), duration_ms: null };
  return { starts: left.length === 0 ? null : JSON.stringify(left), duration_ms: Math.max(0, at - start[1]) };
}

/** When the first run began that has not ended, of those since `after`, in ms; null: none is under way. */
export const findStartSince = (text: string | null | undefined, after: number): number | null =>
  parseStarts(text).find(([, at]) => at > after)?.[1] ?? null;
