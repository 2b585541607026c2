/** Derives a monitor's source from a machine's name (contract 60, agent). */
const MAX_SOURCE_LENGTH = 128;

/**
 * Replaces invalid characters by `-`.
 * @returns null when nothing remains
 */
export function toMonitorSource(name: string): string | null {
  const source = name
    .trim()
    .replace(/[^A-Za-z0-9._:@/-]/gu, '-')
    .slice(0, MAX_SOURCE_LENGTH)
    .split('/')
    // The source is a URL path, so segments of only dots are replaced.
    .map((segment) => (/^\.{1,2}$/.test(segment) ? segment.replaceAll('.', '-') : segment))
    .join('/');
  return /[A-Za-z0-9]/.test(source) ? source : null;
}

/**
 * Returns a file name (contract 60: `^[A-Za-z0-9._-]{1,64}$`).
 * @param ending `.sh`
 */
export function toScriptFileName(source: string, ending: string): string {
  const stem = source.replace(/[^A-Za-z0-9_-]+/g, '-').slice(0, 64 - ending.length - 'heartbeat-'.length);
  return `heartbeat-${stem}${ending}`;
}
