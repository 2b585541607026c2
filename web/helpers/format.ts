import { formatSentence } from '../../lib/sentence.js';
import { memoize, toNumber, toText, splitArguments, type Helper } from './html.js';

const getNumberFormat = memoize(() => new Intl.NumberFormat('en-GB', { maximumFractionDigits: 2 }));
const getCompactFormat = memoize(
  () => new Intl.NumberFormat('en-GB', { notation: 'compact', maximumFractionDigits: 1 }),
);
const BYTE_UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

export function formatNumber(value: unknown): string {
  const n = toNumber(value);
  return n === null ? '—' : getNumberFormat().format(n);
}

export function formatBytes(value: unknown): string {
  const n = toNumber(value);
  if (n === null || n < 0) return '—';
  let unit = 0;
  let amount = n;
  // Rounded first, so that 1,048,575 bytes become 1.0 MiB instead of "1024 KiB".
  while (unit < BYTE_UNITS.length - 1 && Number(amount.toFixed(unit === 0 ? 0 : 1)) >= 1024) {
    amount /= 1024;
    unit++;
  }
  return `${unit === 0 ? amount : amount.toFixed(1)} ${BYTE_UNITS[unit]}`;
}

function formatPercent(...args: unknown[]): string {
  const { values, hash } = splitArguments(args);
  const n = toNumber(values[0]);
  const whole = 'of' in hash ? toNumber(hash['of']) : 1;
  if (n === null || whole === null || whole === 0) return '—';
  return `${getNumberFormat().format(Math.round((n / whole) * 1000) / 10)}%`;
}

export function formatPlural(...args: unknown[]): string {
  const [value, one, many] = splitArguments(args).values;
  const n = toNumber(value) ?? 0;
  return `${getNumberFormat().format(n)} ${n === 1 ? toText(one) : toText(many) || `${toText(one)}s`}`;
}

export const formatHelpers: Record<string, Helper> = {
  num: formatNumber,
  compact: (value) => {
    const n = toNumber(value);
    return n === null ? '—' : getCompactFormat().format(n);
  },
  'file-size': formatBytes,
  percent: formatPercent,
  plural: formatPlural,
  fault: (error, label) => formatSentence(toText(error), toText(label) || undefined),
};
