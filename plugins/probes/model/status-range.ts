/** Expected status codes: `200-299,401`. */
const PART = /^([1-5]\d\d)(?:-([1-5]\d\d))?$/;
const MAX_PARTS = 20;

function parseRange(text: string): [number, number][] | null {
  const parts = text.split(',', MAX_PARTS + 1);
  if (parts.length > MAX_PARTS) return null;
  const ranges: [number, number][] = [];
  for (const part of parts) {
    const [, from, to = from] = PART.exec(part.trim()) ?? [];
    if (from === undefined || to === undefined || Number(from) > Number(to)) return null;
    ranges.push([Number(from), Number(to)]);
  }
  return ranges;
}

export const isStatusRange = (text: string): boolean => parseRange(text) !== null;

export const isInStatusRange = (status: number, text: string): boolean =>
  (parseRange(text) ?? []).some(([from, to]) => from <= status && status <= to);
