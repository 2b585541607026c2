import { toIsoString, normalizeTime } from '../../lib/time.js';

/** Some SDKs send smaller units than seconds. */
const TIME_UNITS: readonly [atLeast: number, perMs: number][] = [
  [1e17, 1e-6],
  [1e14, 1e-3],
  [1e11, 1],
  [0, 1000],
];
const NUMBER_PATTERN = /^\d{1,20}(?:\.\d{1,12})?$/;
const ISO_PATTERN = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:[.,](\d{1,12}))?\s?([Zz]|[+-]\d\d:?\d\d)?$/;
const MAX_DATE_MS = 8.64e15;

/** RFC 3339 in UTC with milliseconds, or null; without a zone UTC, as in the protocol. */
export function parseInstant(value: unknown): string | null {
  if (typeof value === 'number') return parseNumber(value);
  if (typeof value !== 'string' || value.length > 64) return null;
  const given = value.trim();
  if (NUMBER_PATTERN.test(given)) return parseNumber(Number(given));
  const parts = ISO_PATTERN.exec(given);
  if (parts === null) return null;
  const [, day, clock, fraction = '', zone = 'Z'] = parts;
  const offset = zone.length === 5 ? `${zone.slice(0, 3)}:${zone.slice(3)}` : zone.toUpperCase();
  return normalizeTime(`${day}T${clock}.${fraction.padEnd(3, '0').slice(0, 3)}${offset}`);
}

function parseNumber(value: number): string | null {
  if (!(value > 0)) return null;
  const [, perMs] = TIME_UNITS.find(([atLeast]) => value >= atLeast) ?? [0, 1000];
  return toIsoTime(Math.round(value * perMs));
}

const toIsoTime = (ms: number): string | null => (Math.abs(ms) <= MAX_DATE_MS ? toIsoString(ms) : null);
