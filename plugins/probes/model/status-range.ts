/** Status codes that an answer may have: `200-299,401`. Pure. */
const PART = /^([1-5]\d\d)(?:-([1-5]\d\d))?$/;
const MOST = 20;

function parsed(text: string): [number, number][] | null {
  const parts = text.split(',', MOST + 1);
  if (parts.length > MOST) return null;
  const ranges: [number, number][] = [];
  for (const part of parts) {
    const [, from, to = from] = PART.exec(part.trim()) ?? [];
    if (from === undefined || to === undefined || Number(from) > Number(to)) return null;
    ranges.push([Number(from), Number(to)]);
  }
  return ranges;
}

export const isStatusRange = (text: string): boolean => parsed(text) !== null;

export const inStatusRange = (status: number, text: string): boolean =>
  (parsed(text) ?? []).some(([from, to]) => from <= status && status <= to);
