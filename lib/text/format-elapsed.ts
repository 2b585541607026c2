const TIME_UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
] as const;

/**
 * `5 min 44 s`.
 * @param ms at least 0
 */
export function formatElapsed(ms: number): string {
  let left = Math.max(0, Math.round(ms / 1000));
  const parts: string[] = [];
  for (const [name, seconds] of TIME_UNITS) {
    const n = Math.floor(left / seconds);
    left -= n * seconds;
    if (n > 0) parts.push(`${n} ${name}`);
    if (parts.length > 0 && (n === 0 || parts.length === 2)) break;
  }
  return parts.join(' ') || '0 s';
}
