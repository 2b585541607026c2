/**
 * From iOS 15 and macOS 12 (`.ips`: a JSON line, then a JSON document) to the older format, which
 * grouping understands.
 */
const MAX_FRAMES = 200;
const MAX_THREADS = 100;
const MAX_LENGTH = 300;

type UntypedObject = Readonly<Record<string, unknown>>;

const toObject = (value: unknown): UntypedObject | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as UntypedObject) : null;
const toObjects = (value: unknown): UntypedObject[] =>
  Array.isArray(value)
    ? (value as unknown[])
        .slice(0, MAX_FRAMES)
        .map(toObject)
        .filter((one) => one !== null)
    : [];
const toText = (value: unknown): string | null =>
  typeof value === 'string' && value.trim() !== '' ? value.slice(0, MAX_LENGTH).replaceAll(/\s+/g, ' ') : null;
const toInteger = (value: unknown): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;

/** Accepts it with or without its first line; null for other text. */
function parseIpsDocument(report: string): UntypedObject | null {
  if (!report.trimStart().startsWith('{') || !report.includes('"usedImages"')) return null;
  const start = report.trimStart();
  const second = start.indexOf('\n');
  for (const candidate of [start.slice(second + 1), start]) {
    try {
      const found = toObject(JSON.parse(candidate));
      if (found !== null && Array.isArray(found['usedImages'])) return found;
    } catch {}
  }
  return null;
}

export function formatCrashReport(report: string): string {
  const found = parseIpsDocument(report);
  if (found === null) return report;
  const images = Array.isArray(found['usedImages']) ? found['usedImages'].map(toObject) : [];
  const threads = toObjects(found['threads']).slice(0, MAX_THREADS);
  const faulting = toInteger(found['faultingThread']);
  const crashed = threads.findIndex((thread, i) => thread['triggered'] === true || i === faulting);
  const lines = [...formatHeader(found)];
  const add = (title: string, frames: unknown): void => {
    const written = toObjects(frames).map((frame, i) => formatFrame(frame, i, images));
    if (written.length > 0) lines.push('', title, ...written);
  };
  add('Last Exception Backtrace:', found['lastExceptionBacktrace']);
  if (crashed >= 0) add(`Thread ${crashed} Crashed:`, threads[crashed]?.['frames']);
  threads.forEach((thread, i) => i !== crashed && add(`Thread ${i}:`, thread['frames']));
  return lines.join('\n');
}

function formatHeader(found: UntypedObject): string[] {
  const exception = toObject(found['exception']);
  const type = toText(exception?.['type']);
  const signal = toText(exception?.['signal']);
  const process = toText(found['procName']);
  const reason = toText(toObject(found['termination'])?.['indicator']);
  return [
    ...(process === null ? [] : [`Process: ${process}`]),
    ...(type === null ? [] : [`Exception Type: ${type}${signal === null ? '' : ` (${signal})`}`]),
    ...(reason === null ? [] : [`Termination Reason: ${reason}`]),
  ];
}

const ADDRESS_DIGITS = 16;

function formatFrame(frame: UntypedObject, number: number, images: readonly (UntypedObject | null)[]): string {
  const image = images[toInteger(frame['imageIndex']) ?? -1] ?? null;
  const path = toText(image?.['path']);
  const name = toText(image?.['name']) ?? path?.slice(path.lastIndexOf('/') + 1) ?? '???';
  const offset = toInteger(frame['imageOffset']) ?? 0;
  const base = toInteger(image?.['base']) ?? 0;
  const address = `0x${(base + offset).toString(16).padStart(ADDRESS_DIGITS, '0')}`;
  const symbol = toText(frame['symbol']);
  const file = toText(frame['sourceFile']);
  const line = toInteger(frame['sourceLine']);
  const place =
    symbol === null
      ? `0x${base.toString(16).padStart(ADDRESS_DIGITS, '0')} + ${offset}`
      : `${symbol} + ${toInteger(frame['symbolLocation']) ?? 0}`;
  return `${number}   ${name}\t${address} ${place}${file === null || line === null ? '' : ` (${file}:${line})`}`;
}
