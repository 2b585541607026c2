import type { SettingValue } from './formats/format.js';

export const TYPES = ['string', 'integer', 'boolean', 'secret', 'choice', 'url', 'port', 'path'] as const;
export type ValueType = (typeof TYPES)[number];

const YES = /^(true|yes|y|on|1)$/i;
const NO = /^(false|no|n|off|0)$/i;
const PORTS = { least: 1, most: 65_535 };

type Reading = { value: SettingValue } | { why: string };

export const valueOf = (type: ValueType, text: string): Reading => READERS[type](text);

const anyText = (text: string): Reading => (text === '' ? { why: 'must not be empty' } : { value: text });

const READERS: Readonly<Record<ValueType, (text: string) => Reading>> = {
  string: anyText,
  choice: anyText,
  secret: anyText,
  integer: (text) => integer(text, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, 'must be a whole number'),
  port: (text) => integer(text, PORTS.least, PORTS.most, 'must be a port, 1 to 65535'),
  boolean(text) {
    if (YES.test(text.trim())) return { value: true };
    return NO.test(text.trim()) ? { value: false } : { why: 'must be true or false' };
  },
  url(text) {
    const address = text.trim();
    return /^[a-z][a-z0-9+.-]*:\/\/[^\s\p{Cc}]+$/iu.test(address) && URL.canParse(address)
      ? { value: address }
      : { why: 'must be an address such as https://example.com' };
  },
  path: (text) => (text.trim() === '' || text.includes('\0') ? { why: 'must be a path' } : { value: text.trim() }),
};

function integer(text: string, least: number, most: number, why: string): Reading {
  const value = /^[+-]?\d{1,16}$/.test(text.trim()) ? Number(text) : Number.NaN;
  return value >= least && value <= most ? { value: value === 0 ? 0 : value } : { why };
}

export const isOfType = (type: ValueType, value: SettingValue): boolean => 'value' in valueOf(type, String(value));

/**
 * Returns true for template placeholders and blank values (contract 90, setup.json), which count as
 * not set.
 */
export function isPlaceholder(value: SettingValue): boolean {
  return typeof value === 'string' && /^(|change-?me|todo|your-.*|<.*>)$/is.test(value.trim());
}
