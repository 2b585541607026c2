import { parseJsonText } from '../../../lib/json/parse-json-text.js';
import { parseCsv } from '../../../lib/text/csv.js';
import type { MonitorFields } from '../../../ports/domain/watchdog.js';

export interface ImportedMonitor {
  key: string;
  parent_key: string | null;
  /** Text from which the source is derived. */
  wanted: string;
  /**
   * `wanted` is exact: an existing monitor with it is this one, and `parent_key` is a source too.
   */
  exact?: boolean;
  fields: Omit<MonitorFields, 'source' | 'parent_source'>;
  /** Null when its kind has no counterpart; absent for monitors that report by themselves. */
  probe?: object | null;
  /** Recognize it in a repeated import; one match is enough. */
  identities: readonly string[];
  address: string | null;
  notes: string[];
}

export class NotImportable extends Error {
  override name = 'NotImportable';
}

const MAX_SOURCE_CHARACTERS = 100;

/** `Nightly backup (Berlin)` → `nightly-backup-berlin` */
export function createSource(name: string): string {
  const plain = name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9._:@/]+/g, '-')
    .slice(0, MAX_SOURCE_CHARACTERS)
    .replaceAll(/^[-./]+|[-./]+$/g, '')
    .replaceAll(/\/\.{1,2}(?=\/|$)/g, '');
  return plain || 'monitor';
}

export type SourceFields = Record<string, unknown>;

export const readText = (from: SourceFields, name: string): string | null => {
  const value = from[name];
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null;
};

export const readNumber = (from: SourceFields, name: string): number | null => {
  const value = typeof from[name] === 'string' && from[name].trim() !== '' ? Number(from[name]) : from[name];
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
};

/** Accepts 0 and 1 of databases and text of CSV; null when absent. */
export function readBoolean(from: SourceFields, name: string): boolean | null {
  const value = from[name];
  if (typeof value === 'boolean') return value;
  const text = typeof value === 'string' || typeof value === 'number' ? String(value).trim().toLowerCase() : '';
  if (['1', 'true', 'yes'].includes(text)) return true;
  return ['0', 'false', 'no'].includes(text) ? false : null;
}

const isObject = (value: unknown): value is SourceFields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export function toList(value: unknown): unknown[] {
  const given = typeof value === 'string' ? parseJsonText(value) : value;
  return Array.isArray(given) ? given : [];
}

export function toFields(value: unknown): SourceFields | null {
  const given = typeof value === 'string' ? parseJsonText(value) : value;
  return isObject(given) ? given : null;
}

/** The root, a named member, or an object from id to element. */
function findRows(json: unknown, names: readonly string[]): unknown[] | undefined {
  if (Array.isArray(json)) return json;
  if (!isObject(json)) return undefined;
  const named = names.map((name) => json[name]).find((one) => Array.isArray(one) || isObject(one));
  if (named !== undefined) return Array.isArray(named) ? named : Object.values(named);
  const entries = Object.entries(json);
  return entries.length > 0 && entries.every(([id, one]) => /^\d+$/.test(id) && isObject(one))
    ? Object.values(json)
    : undefined;
}

/**
 * JSON, or CSV with a header line.
 * @param expected names of the list in JSON, required CSV columns, and a description for the error
 * @throws NotImportable
 */
export function parseList(
  text: string,
  { names, columns, what }: { names: readonly string[]; columns: readonly string[]; what: string },
): SourceFields[] {
  const plain = text.replace(/^\ufeff/, '').trim();
  const [head = ''] = plain.split('\n', 1);
  if (/^["\w]/.test(plain) && /[,;]/.test(head)) {
    const rows = parseCsv(plain);
    if (columns.every((name) => name in (rows[0] ?? {}))) return rows;
    throw new NotImportable(`The first line of the file does not contain ${columns.join(' and ')}: expected ${what}.`);
  }
  const json = parseJsonText(plain);
  if (json === undefined) throw new NotImportable(`The file is neither JSON nor CSV: expected ${what}.`);
  const found = findRows(json, names);
  if (found === undefined)
    throw new NotImportable(`The file does not contain a list ${names.join(' or ')}: expected ${what}.`);
  return found.filter(isObject);
}

const MAX_TAG_COUNT = 20;
const MAX_TAG_CHARACTERS = 64;

export function readTags(given: readonly string[], notes: string[]): string[] {
  const all = [...new Set(given.map((tag) => tag.trim()).filter((tag) => tag !== ''))];
  const tags = all.filter((tag) => tag.length <= MAX_TAG_CHARACTERS).slice(0, MAX_TAG_COUNT);
  if (tags.length < all.length)
    notes.push(
      `Tags: a monitor can have at most ${MAX_TAG_COUNT} of ${MAX_TAG_CHARACTERS} characters; ${all.length - tags.length} omitted.`,
    );
  return tags;
}
