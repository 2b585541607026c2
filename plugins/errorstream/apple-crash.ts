/**
 * Converts Apple crash reports since iOS 15 and macOS 12 (`.ips`: a JSON line, then a JSON
 * document) to the older text format, which grouping understands. Size-limited.
 */
const MAX_FRAMES = 200;
const MAX_THREADS = 100;
const MAX_LENGTH = 300;

type Loose = Readonly<Record<string, unknown>>;

const object = (value: unknown): Loose | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Loose) : null;
const objects = (value: unknown): Loose[] =>
  Array.isArray(value)
    ? (value as unknown[])
        .slice(0, MAX_FRAMES)
        .map(object)
        .filter((one) => one !== null)
    : [];
const text = (value: unknown): string | null =>
  typeof value === 'string' && value.trim() !== '' ? value.slice(0, MAX_LENGTH).replaceAll(/\s+/g, ' ') : null;
const whole = (value: unknown): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;

/**
 * Returns the document of an `.ips` report, with or without its first line; null for other text.
 */
function documentIn(report: string): Loose | null {
  if (!report.trimStart().startsWith('{') || !report.includes('"usedImages"')) return null;
  const start = report.trimStart();
  const second = start.indexOf('\n');
  for (const candidate of [start.slice(second + 1), start]) {
    try {
      const found = object(JSON.parse(candidate));
      if (found !== null && Array.isArray(found['usedImages'])) return found;
    } catch {
    }
  }
  return null;
}

export function formatCrashReport(report: string): string {
  const found = documentIn(report);
  if (found === null) return report;
  const images = Array.isArray(found['usedImages']) ? found['usedImages'].map(object) : [];
  const threads = objects(found['threads']).slice(0, MAX_THREADS);
  const faulting = whole(found['faultingThread']);
  const crashed = threads.findIndex((thread, i) => thread['triggered'] === true || i === faulting);
  const lines = [...headerOf(found)];
  const add = (title: string, frames: unknown): void => {
    const written = objects(frames).map((frame, i) => frameText(frame, i, images));
    if (written.length > 0) lines.push('', title, ...written);
  };
  add('Last Exception Backtrace:', found['lastExceptionBacktrace']);
  if (crashed >= 0) add(`Thread ${crashed} Crashed:`, threads[crashed]?.['frames']);
  threads.forEach((thread, i) => i !== crashed && add(`Thread ${i}:`, thread['frames']));
  return lines.join('\n');
}

function headerOf(found: Loose): string[] {
  const exception = object(found['exception']);
  const type = text(exception?.['type']);
  const signal = text(exception?.['signal']);
  const process = text(found['procName']);
  const reason = text(object(found['termination'])?.['indicator']);
  return [
    ...(process === null ? [] : [`Process: ${process}`]),
    ...(type === null ? [] : [`Exception Type: ${type}${signal === null ? '' : ` (${signal})`}`]),
    ...(reason === null ? [] : [`Termination Reason: ${reason}`]),
  ];
}

const ADDRESS_DIGITS = 16;

function frameText(frame: Loose, number: number, images: readonly (Loose | null)[]): string {
  const image = images[whole(frame['imageIndex']) ?? -1] ?? null;
  const path = text(image?.['path']);
  const name = text(image?.['name']) ?? path?.slice(path.lastIndexOf('/') + 1) ?? '???';
  const offset = whole(frame['imageOffset']) ?? 0;
  const base = whole(image?.['base']) ?? 0;
  const address = `0x${(base + offset).toString(16).padStart(ADDRESS_DIGITS, '0')}`;
  const symbol = text(frame['symbol']);
  const file = text(frame['sourceFile']);
  const line = whole(frame['sourceLine']);
  const place =
    symbol === null
      ? `0x${base.toString(16).padStart(ADDRESS_DIGITS, '0')} + ${offset}`
      : `${symbol} + ${whole(frame['symbolLocation']) ?? 0}`;
  return `${number}   ${name}\t${address} ${place}${file === null || line === null ? '' : ` (${file}:${line})`}`;
}
