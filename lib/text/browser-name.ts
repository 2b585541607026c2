/**
 * A browser's name from its `User-Agent`: enough for people to recognize their own, and to see what errors share. Pure.
 * Rejected: a library that knows every robot; nothing depends on this text.
 */
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

const first = (table: typeof BROWSERS, text: string): string | undefined =>
  table.find(([pattern]) => pattern.test(text))?.[1];

/** `Firefox`; null for another program. */
export const detectBrowser = (userAgent: string): string | null => first(BROWSERS, userAgent) ?? null;

/** `Firefox on Linux`; the text itself, cut, when it is another program. */
export function formatBrowserName(userAgent: string): string {
  const browser = detectBrowser(userAgent);
  if (browser === null) return userAgent.slice(0, 60) || 'unknown browser';
  const system = first(SYSTEMS, userAgent);
  return system === undefined ? browser : `${browser} on ${system}`;
}
