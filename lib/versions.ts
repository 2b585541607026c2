/**
 * Segments are compared as digit strings, because numbers lose precision beyond 2^53 (contract 40,
 * versions).
 */

const VERSION_PATTERN = /^\d+(\.\d+){0,5}(-[0-9A-Za-z.-]{1,40})?$/;
const DIGITS_PATTERN = /^\d+$/;

/** Returns whether the text fits contract 40's grammar. */
export const isVersion = (text: string): boolean => VERSION_PATTERN.test(text) && !text.endsWith('\n');

/** Removes build metadata: `1.2.3` for `1.2.3+0a1b2c3`. */
export const stripBuildMetadata = (text: string): string => text.replace(/[+ ][0-9A-Za-z.-]+$/, '');

/**
 * Compares per numeric segment, missing ones 0; a suffix sorts below none (contract 40). Both must
 * be versions.
 */
export function compareVersions(a: string, b: string): number {
  const left = splitVersion(a);
  const right = splitVersion(b);
  for (let i = 0; i < Math.max(left.segments.length, right.segments.length); i++) {
    const order = compareNumbers(left.segments[i] ?? '0', right.segments[i] ?? '0');
    if (order !== 0) return order;
  }
  if (left.suffix === null || right.suffix === null)
    return Number(left.suffix === null) - Number(right.suffix === null);
  return compareSuffixes(left.suffix, right.suffix);
}

/** Compares ignoring spelling: `1.2` equals `1.2.0`. Both must be versions. */
export const isSameVersion = (a: string, b: string): boolean => compareVersions(a, b) === 0;

/** Returns the canonical spelling, for lookups: `01.2.0` → `1.2`. Must be a version. */
export function normalizeVersion(version: string): string {
  const { segments, suffix } = splitVersion(version);
  const short = segments.map((digits) => stripLeadingZeros(digits) || '0');
  while (short.length > 1 && short.at(-1) === '0') short.pop();
  return short.join('.') + (suffix === null ? '' : `-${suffix}`);
}

export interface NamedVersion {
  /** Without prefix and `v`, with metadata. */
  name: string;
  /** Without metadata, or null. */
  version: string | null;
  /** Numeric build metadata such as `388`, or null. */
  number: string | null;
}

/** Versions as clients name them everywhere (contract 20, Amendments). */
const METADATA_PATTERN = /^([^+]+)\+([0-9A-Za-z.-]+)$/;
const NUMERIC_PATTERN = /^\d+(?:\.\d+){0,5}$/;

export function parseNamedVersion(given: string): NamedVersion {
  const text = given.trim();
  const name = text
    .slice(text.lastIndexOf('@') + 1)
    .trim()
    .replace(/^[vV](?=\d)/, '');
  const [, plain = name, metadata = ''] = METADATA_PATTERN.exec(name) ?? [];
  const version = isVersion(plain) ? plain : null;
  return { name, version, number: version !== null && NUMERIC_PATTERN.test(metadata) ? metadata : null };
}

/** Returns `1.4.2+388` of `shop@v1.4.2+388`. */
export const getVersionName = (given: string): string => parseNamedVersion(given).name;

/**
 * Returns one text for equal versions, for lookups: `1.4` of `v1.4.0+388`. Other text stays
 * unchanged.
 */
export function getVersionIdentity(given: string): string {
  const { name, version } = parseNamedVersion(given);
  return version === null ? name : normalizeVersion(version);
}

/** Compares two versions; null when one is outside the grammar. */
export function compareNamedVersions(a: string, b: string): number | null {
  const left = parseNamedVersion(a);
  const right = parseNamedVersion(b);
  if (left.name === right.name) return 0;
  if (left.version === null || right.version === null) return null;
  const order = compareVersions(left.version, right.version);
  if (order !== 0 || left.number === null || right.number === null) return order;
  return compareVersions(left.number, right.number);
}

function splitVersion(version: string): { segments: string[]; suffix: string | null } {
  const dash = version.indexOf('-');
  return dash < 0
    ? { segments: version.split('.'), suffix: null }
    : { segments: version.slice(0, dash).split('.'), suffix: version.slice(dash + 1) };
}

function compareNumbers(a: string, b: string): number {
  const left = stripLeadingZeros(a);
  const right = stripLeadingZeros(b);
  return left.length === right.length ? compareTexts(left, right) : left.length - right.length;
}

/** Zero becomes the empty text. */
function stripLeadingZeros(digits: string): string {
  let start = 0;
  while (digits[start] === '0') start++;
  return digits.slice(start);
}

const compareTexts = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

/** SemVer 2.0.0, 11.4: numbers below words, a list below a longer one with that prefix. */
function compareSuffixes(a: string, b: string): number {
  const left = a.split('.');
  const right = b.split('.');
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const order = compareIdentifiers(left[i] ?? '', right[i] ?? '');
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

function compareIdentifiers(a: string, b: string): number {
  const [left, right] = [DIGITS_PATTERN.test(a), DIGITS_PATTERN.test(b)];
  if (left && right) return compareNumbers(a, b);
  return left === right ? compareTexts(a, b) : Number(right) - Number(left);
}
