/** From a machine's name to its monitor's source (contract 60, agent). Pure. */
const MAX = 128;

/**
 * Characters that a source cannot have become `-`. The name stays what it is.
 * @returns null when nothing of the name is left
 */
export function sourceOf(name: string): string | null {
  const source = name
    .trim()
    .replace(/[^A-Za-z0-9._:@/-]/gu, '-')
    .slice(0, MAX)
    .split('/')
    // A path in URLs: a segment of dots alone would leave it.
    .map((segment) => (/^\.{1,2}$/.test(segment) ? segment.replaceAll('.', '-') : segment))
    .join('/');
  return /[A-Za-z0-9]/.test(source) ? source : null;
}

/** A file name made of it (contract 60: `^[A-Za-z0-9._-]{1,64}$`). @param ending `.sh` */
export function fileNameOf(source: string, ending: string): string {
  const stem = source.replace(/[^A-Za-z0-9_-]+/g, '-').slice(0, 64 - ending.length - 'heartbeat-'.length);
  return `heartbeat-${stem}${ending}`;
}
