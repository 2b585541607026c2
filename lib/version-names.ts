/**
 * Versions as clients name them (contract 20, versions): one rule for reports, sessions, releases, fixes, feedback,
 * OTLP and commits. A product prefix (`shop@`) and a leading `v` are dropped. Build metadata (`+388`) decides only
 * between otherwise equal versions, and only where it is numeric on both sides. Text outside the grammar of versions,
 * such as a commit id, equals itself alone. Pure.
 */
import { canonicalVersion, compareVersions, isVersion } from './versions.js';

export interface NamedVersion {
  /** Without prefix and `v`, with its metadata. Empty: the text names none. */
  name: string;
  /** Within contract 40's grammar, without metadata; null: outside it. */
  version: string | null;
  /** Numeric build metadata, such as `388`; null: none, or not numeric. */
  number: string | null;
}

const METADATA = /^([^+]+)\+([0-9A-Za-z.-]+)$/;
const NUMERIC = /^\d+(?:\.\d+){0,5}$/;

export function readVersion(given: string): NamedVersion {
  const text = given.trim();
  const name = text
    .slice(text.lastIndexOf('@') + 1)
    .trim()
    .replace(/^[vV](?=\d)/, '');
  const [, plain = name, metadata = ''] = METADATA.exec(name) ?? [];
  const version = isVersion(plain) ? plain : null;
  return { name, version, number: version !== null && NUMERIC.test(metadata) ? metadata : null };
}

/** Without prefix and `v`: `1.4.2+388` of `shop@v1.4.2+388`. */
export const versionName = (given: string): string => readVersion(given).name;

/** One text for equal versions, for lookups: `1.4` of `v1.4.0+388`. Text outside the grammar stays as it is. */
export function versionIdentity(given: string): string {
  const { name, version } = readVersion(given);
  return version === null ? name : canonicalVersion(version);
}

/** Below 0, 0 or above 0; null: the two cannot be compared, because one is outside the grammar. */
export function compareNamedVersions(a: string, b: string): number | null {
  const left = readVersion(a);
  const right = readVersion(b);
  if (left.name === right.name) return 0;
  if (left.version === null || right.version === null) return null;
  const order = compareVersions(left.version, right.version);
  if (order !== 0 || left.number === null || right.number === null) return order;
  return compareVersions(left.number, right.number);
}
