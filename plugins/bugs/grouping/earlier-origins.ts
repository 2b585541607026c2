/**
 * Origins as earlier versions made them. A group from then is found by the key that has such an origin (decisions 011,
 * 041 and 051). Pure, linear.
 */
import { GUID } from '../../../lib/text/guid.js';
import { cutPath } from './origin.js';

const SEGMENTS = 2;
const ANY_GUID = new RegExp(`\\{?${GUID}\\}?`, 'gi');
const DOTTED_HASH = /\.[0-9a-f]{8,64}(?=\.)/gi;
const HYPHENED_HASH = /[-_~](?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{8,64}(?=\.|$)/gi;
const WHOLE_HASH = /^(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{8,64}(?=\.|$)/i;
const NUMBERED_DIRECTORY = /^\d{8,}$/;
const BUNDLE = String.raw`(?=(?:\.(?:min|chunk|bundle|esm|umd|iife|legacy|modern|module))?\.(?:[cm]?js|css|wasm)(?:\.map)?$)`;
const BUNDLED_HASH = new RegExp(`([-._])([\\w-]{8})${BUNDLE}`, 'i');
const BUNDLED_NAME = new RegExp(`^[\\w-]{8}${BUNDLE}`, 'i');
const WORD = /^(?:[a-z]*(?:[A-Z][a-z]{2,}){1,4}\d?|[a-z]{1,8}|\d{1,3})$/;
const MIXED_HASH = /([-.])([A-Za-z0-9_]{8})(?=\.(?:[cm]?js|css|map)\b)/g;

type MaskName = (name: string) => string;

const originWith =
  (maskName: MaskName) =>
  (file: string): string =>
    cutPath(file, false)
      .slice(-SEGMENTS)
      .map((segment, i, kept) => maskSegment(segment, i === kept.length - 1 ? maskName : null).toLowerCase())
      .join('/');

function maskSegment(segment: string, maskName: MaskName | null): string {
  if (segment.length < 8) return segment;
  if (maskName === null && NUMBERED_DIRECTORY.test(segment)) return '<hash>';
  const masked = segment
    .replace(ANY_GUID, '<guid>')
    .replace(DOTTED_HASH, '.<hash>')
    .replace(HYPHENED_HASH, '-<hash>')
    .replace(WHOLE_HASH, '<hash>');
  return maskName === null ? masked : maskName(masked);
}

const isHash = (name: string): boolean => !name.split(/[-_]/).every((word) => WORD.test(word));

function maskBundled(name: string): string {
  const whole = BUNDLED_NAME.exec(name)?.[0];
  if (whole !== undefined && /[A-Z]/.test(whole) && /[a-z]/.test(whole) && isHash(whole))
    return `<hash>${name.slice(whole.length)}`;
  return name.replace(BUNDLED_HASH, (found, before: string, part: string) =>
    isHash(part) ? `${before}<hash>` : found,
  );
}

const maskMixed: MaskName = (name) =>
  name.replace(MIXED_HASH, (found, before: string, part: string) => {
    const base32 = /\d/.test(part) && /[A-Z]/.test(part) && !/[a-z_]/.test(part);
    const base64 = /\d[A-Za-z]/.test(part) && /.[A-Z]/.test(part) && /[a-z]/.test(part);
    return base32 || base64 ? `${before}<hash>` : found;
  });

/** The origin of a file before decision 041, and between it and 051. */
export const EARLIER_ORIGINS = { before041: originWith(maskMixed), before051: originWith(maskBundled) } as const;

const NAMELESS = /^(?:\?+|<?anonymous>?|<unknown>|<redacted>|\{closure\}|\{anonymous\}|0x[0-9a-f]{1,16})$/i;
const RUST_HASH = /::h[0-9a-f]{16}$/;
const HEX_ADDRESS = /0x[0-9a-f]{4,16}/gi;

/** A function as part of an origin, before decision 051. */
export function earlierFunction(name: string): string {
  const given = name.slice(0, 300).trim();
  return NAMELESS.test(given) ? '' : given.replace(RUST_HASH, '').replace(HEX_ADDRESS, '<address>');
}
