import type { SettingValue } from './formats/format.js';

export const VALUE_TYPES = ['string', 'integer', 'boolean', 'secret', 'choice', 'url', 'port', 'path'] as const;
export type ValueType = (typeof VALUE_TYPES)[number];

const YES_PATTERN = /^(true|yes|y|on|1)$/i;
const NO_PATTERN = /^(false|no|n|off|0)$/i;
const PORT_RANGE = { least: 1, most: 65_535 };

type ParsedValue = { value: SettingValue } | { why: string };

export const parseValue = (type: ValueType, text: string): ParsedValue => PARSERS[type](text);

const parseText = (text: string): ParsedValue => (text === '' ? { why: 'must not be empty' } : { value: text });

const PARSERS: Readonly<Record<ValueType, (text: string) => ParsedValue>> = {
  string: parseText,
  choice: parseText,
  secret: parseText,
  integer: (text) => parseInteger(text, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, 'must be a whole number'),
  port: (text) => parseInteger(text, PORT_RANGE.least, PORT_RANGE.most, 'must be a port, 1 to 65535'),
  boolean(text) {
    if (YES_PATTERN.test(text.trim())) return { value: true };
    return NO_PATTERN.test(text.trim()) ? { value: false } : { why: 'must be true or false' };
  },
  url(text) {
    const address = text.trim();
    return /^[a-z][a-z0-9+.-]*:\/\/[^\s\p{Cc}]+$/iu.test(address) && URL.canParse(address)
      ? { value: address }
      : { why: 'must be an address such as https://example.com' };
  },
  path: (text) => (text.trim() === '' || text.includes('\0') ? { why: 'must be a path' } : { value: text.trim() }),
};

function parseInteger(text: string, least: number, most: number, why: string): ParsedValue {
  const value = /^[+-]?\d{1,16}$/.test(text.trim()) ? Number(text) : Number.NaN;
  return value >= least && value <= most ? { value: value === 0 ? 0 : value } : { why };
}

export const isOfType = (type: ValueType, value: SettingValue): boolean => 'value' in parseValue(type, String(value));

/**
 * Returns true for template placeholders and blank values (contract 90, setup.json), which count as
 * not set.
 */
export function isPlaceholder(value: SettingValue): boolean {
  return typeof value === 'string' && /^(|change-?me|todo|your-.*|<.*>)$/is.test(value.trim());
}
