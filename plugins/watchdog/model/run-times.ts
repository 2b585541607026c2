/**
 * From `/start` to the next end with the same `rid` (contract 30, pings known from elsewhere).
 * Starts are JSON text, `[[rid, ms since 1970], …]`, newest last.
 */
type RunStart = [rid: string, at: number];

const MAX_OPEN_RUNS = 20;

const parseStarts = (text: string | null | undefined): RunStart[] => (text ? (JSON.parse(text) as RunStart[]) : []);

/** @param rid empty for a job with one run at a time */
export function addStart(text: string | null | undefined, rid: string, at: number): string {
  const others = parseStarts(text).filter(([known]) => known !== rid);
  return JSON.stringify([...others, [rid, at]].slice(-MAX_OPEN_RUNS));
}

/** @returns duration in ms, or null without a start */
export function removeStart(
  text: string | null | undefined,
  rid: string,
  at: number,
): { starts: string | null; duration_ms: number | null } {
  const starts = parseStarts(text);
  const start = starts.find(([known]) => known === rid);
  // An ambiguous end ends every run.
  const left = rid === '' ? [] : starts.filter((one) => one !== start);
  if (start === undefined) return { starts: left.length === 0 ? null : (text ?? null), duration_ms: null };
  return { starts: left.length === 0 ? null : JSON.stringify(left), duration_ms: Math.max(0, at - start[1]) };
}

/** Returns ms of the first open run since `after`, or null. */
export const findStartSince = (text: string | null | undefined, after: number): number | null =>
  parseStarts(text).find(([, at]) => at > after)?.[1] ?? null;
