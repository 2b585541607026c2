import { formatSentence } from '../../lib/sentence.js';
import { late, numeric, plain, split, type Helper } from './html.js';

const thousands = late(() => new Intl.NumberFormat('en-GB', { maximumFractionDigits: 2 }));
const short = late(() => new Intl.NumberFormat('en-GB', { notation: 'compact', maximumFractionDigits: 1 }));
const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

export function number(value: unknown): string {
  const n = numeric(value);
  return n === null ? '—' : thousands().format(n);
}

export function bytes(value: unknown): string {
  const n = numeric(value);
  if (n === null || n < 0) return '—';
  let unit = 0;
  let amount = n;
  // Rounded first, so that 1,048,575 bytes become 1.0 MiB instead of "1024 KiB".
  while (unit < UNITS.length - 1 && Number(amount.toFixed(unit === 0 ? 0 : 1)) >= 1024) {
    amount /= 1024;
    unit++;
  }
  return `${unit === 0 ? amount : amount.toFixed(1)} ${UNITS[unit]}`;
}

function percent(...args: unknown[]): string {
  const { values, hash } = split(args);
  const n = numeric(values[0]);
  const whole = 'of' in hash ? numeric(hash['of']) : 1;
  if (n === null || whole === null || whole === 0) return '—';
  return `${thousands().format(Math.round((n / whole) * 1000) / 10)}%`;
}

export function plural(...args: unknown[]): string {
  const [value, one, many] = split(args).values;
  const n = numeric(value) ?? 0;
  return `${thousands().format(n)} ${n === 1 ? plain(one) : plain(many) || `${plain(one)}s`}`;
}

export const format: Record<string, Helper> = {
  num: number,
  compact: (value) => {
    const n = numeric(value);
    return n === null ? '—' : short().format(n);
  },
  'file-size': bytes,
  percent,
  plural,
  fault: (error, label) => formatSentence(plain(error), plain(label) || undefined),
};
