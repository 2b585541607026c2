/**
 * Where an item was seen, as lists are filtered by it: short hashes of versions and hosts in the item itself, so that
 * an index finds the items of a version in every order of the list. Equal versions have one mark: `1.4` and `1.4.0`.
 * Pure.
 *
 * Rejected: looking among the kept occurrences. A version that every error was seen in has as many as there are items,
 * and of a busy one no occurrence of the newest version may be kept.
 */
import { hash } from 'node:crypto';
import type { Update } from '../../../ports/store.js';
import { getVersionIdentity } from '../../../lib/versions.js';

export interface PlaceMarks {
  /** The newest versions, newest last; missing in items from before this field. */
  version_marks?: string[];
  /** The first hosts. */
  host_marks?: string[];
}

/** Versions, and hosts, of an item; more would make each count of it dearer. */
export const MAX_MARKS = 50;

const markOf = (text: string): string => hash('sha256', text, 'base64url').slice(0, 8);

export const toVersionMark = (version: string): string => markOf(getVersionIdentity(version));
export const toHostMark = (host: string): string => markOf(host.trim());

/** Where an occurrence was. */
export interface SeenPlace {
  app_version?: string | null;
  host?: string | null;
}

const isNamed = (text: string | null | undefined): text is string => typeof text === 'string' && text.trim() !== '';

/** The marks of an item's first occurrence. */
export const buildFirstMarks = ({ app_version, host }: SeenPlace): Required<PlaceMarks> => ({
  version_marks: isNamed(app_version) ? [toVersionMark(app_version)] : [],
  host_marks: isNamed(host) ? [toHostMark(host)] : [],
});

/** The marks of several occurrences, oldest first. */
export function buildMarks(seen: readonly SeenPlace[]): Required<PlaceMarks> {
  const versions = seen.flatMap(({ app_version }) => (isNamed(app_version) ? [toVersionMark(app_version)] : []));
  const hosts = seen.flatMap(({ host }) => (isNamed(host) ? [toHostMark(host)] : []));
  return {
    version_marks: [...new Set(versions)].slice(-MAX_MARKS),
    host_marks: [...new Set(hosts)].slice(0, MAX_MARKS),
  };
}

/** What an occurrence adds to its item; null: nothing. */
export function findAddedMarks(
  { version_marks = [], host_marks = [] }: PlaceMarks,
  { app_version, host }: SeenPlace,
): NonNullable<Update['push']> | null {
  const version = isNamed(app_version) ? toVersionMark(app_version) : null;
  const isNew = version !== null && !version_marks.includes(version);
  const at = isNamed(host) && host_marks.length < MAX_MARKS ? toHostMark(host) : null;
  const isElsewhere = at !== null && !host_marks.includes(at);
  if (!isNew && !isElsewhere) return null;
  return {
    ...(isNew && { version_marks: { each: [version], keep: MAX_MARKS } }),
    ...(isElsewhere && { host_marks: { each: [at], keep: MAX_MARKS } }),
  };
}
