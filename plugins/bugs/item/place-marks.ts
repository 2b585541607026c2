/**
 * Short hashes of versions and hosts in the item, so that one index serves filters in every sort
 * order. `1.4` and `1.4.0` share a mark. Stored occurrences may lack the newest version of a busy
 * item.
 */
import { hash } from 'node:crypto';
import type { Update } from '../../../ports/store/index.js';
import { getVersionIdentity } from '../../../lib/versions.js';

export interface PlaceMarks {
  version_marks?: string[];
  host_marks?: string[];
}

export const MAX_PLACE_MARKS = 50;

const toMark = (text: string): string => hash('sha256', text, 'base64url').slice(0, 8);

export const toVersionMark = (version: string): string => toMark(getVersionIdentity(version));
export const toHostMark = (host: string): string => toMark(host.trim());

export interface VersionAndHost {
  app_version?: string | null;
  host?: string | null;
}

const isNamed = (text: string | null | undefined): text is string => typeof text === 'string' && text.trim() !== '';

export const buildFirstMarks = ({ app_version, host }: VersionAndHost): Required<PlaceMarks> => ({
  version_marks: isNamed(app_version) ? [toVersionMark(app_version)] : [],
  host_marks: isNamed(host) ? [toHostMark(host)] : [],
});

export function buildMarks(seen: readonly VersionAndHost[]): Required<PlaceMarks> {
  const versions = seen.flatMap(({ app_version }) => (isNamed(app_version) ? [toVersionMark(app_version)] : []));
  const hosts = seen.flatMap(({ host }) => (isNamed(host) ? [toHostMark(host)] : []));
  return {
    version_marks: [...new Set(versions)].slice(-MAX_PLACE_MARKS),
    host_marks: [...new Set(hosts)].slice(0, MAX_PLACE_MARKS),
  };
}

/** Returns null when the marks exist. */
export function buildMarksUpdate(
  { version_marks = [], host_marks = [] }: PlaceMarks,
  { app_version, host }: VersionAndHost,
): NonNullable<Update['push']> | null {
  const version = isNamed(app_version) ? toVersionMark(app_version) : null;
  const isNew = version !== null && !version_marks.includes(version);
  const at = isNamed(host) && host_marks.length < MAX_PLACE_MARKS ? toHostMark(host) : null;
  const isElsewhere = at !== null && !host_marks.includes(at);
  if (!isNew && !isElsewhere) return null;
  return {
    ...(isNew && { version_marks: { each: [version], keep: MAX_PLACE_MARKS } }),
    ...(isElsewhere && { host_marks: { each: [at], keep: MAX_PLACE_MARKS } }),
  };
}
