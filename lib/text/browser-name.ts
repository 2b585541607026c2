/** Browser names from `User-Agent`, for display only, so a short table suffices. */
const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/\bEdg(?:A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bFirefox\/|\bFxiOS\//, 'Firefox'],
  [/\bChrome\/|\bCriOS\/|\bHeadlessChrome\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
];

const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/\bAndroid\b/, 'Android'],
  [/\b(?:iPhone|iPad)\b/, 'iOS'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
];

const findFirstMatch = (table: typeof BROWSERS, text: string): string | undefined =>
  table.find(([pattern]) => pattern.test(text))?.[1];

export const detectBrowser = (userAgent: string): string | null => findFirstMatch(BROWSERS, userAgent) ?? null;

/** Returns `Firefox on Linux`, or the truncated text. */
export function formatBrowserName(userAgent: string): string {
  const browser = detectBrowser(userAgent);
  if (browser === null) return userAgent.slice(0, 60) || 'unknown browser';
  const system = findFirstMatch(SYSTEMS, userAgent);
  return system === undefined ? browser : `${browser} on ${system}`;
}
