/** Expected status codes: `200-299,401`. */
const RANGE_PATTERN = /^([1-5]\d\d)(?:-([1-5]\d\d))?$/;
const MAX_RANGES = 20;

function parseRanges(text: string): [number, number][] | null {
  const parts = text.split(',', MAX_RANGES + 1);
  if (parts.length > MAX_RANGES) return null;
  const ranges: [number, number][] = [];
  for (const part of parts) {
    const [, from, to = from] = RANGE_PATTERN.exec(part.trim()) ?? [];
    if (from === undefined || to === undefined || Number(from) > Number(to)) return null;
    ranges.push([Number(from), Number(to)]);
  }
  return ranges;
}

export const isStatusRange = (text: string): boolean => parseRanges(text) !== null;

export const isInStatusRange = (status: number, text: string): boolean =>
  (parseRanges(text) ?? []).some(([from, to]) => from <= status && status <= to);
