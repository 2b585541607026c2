/**
 * `Sat, 28 Nov 2026, 15:33 CET`.
 * @param at RFC 3339; other text is unchanged
 * @param zone IANA
 */
export function formatLocalTime(at: string, zone: string): string {
  const ms = Date.parse(at);
  if (Number.isNaN(ms)) return at;
  const options = {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
  } as const;
  return new Intl.DateTimeFormat('en-GB', { ...options, timeZone: zone, timeZoneName: 'short' }).format(ms);
}
