/** A monitor of another service, as it becomes one of ours. Pure. */
import type { MonitorFields } from '../../../ports/domain/watchdog.js';

export interface ImportedMonitor {
  /** Its id there, by which its children name it. */
  key: string;
  parent_key: string | null;
  /** What its source is made of. */
  wanted: string;
  fields: Omit<MonitorFields, 'source' | 'parent_source'>;
  probe: object | null;
  /** The secret part of the address that it is pinged at; null: none. */
  address: string | null;
  /** What of it has no counterpart here, a sentence each. */
  notes: string[];
}

/** The file is not what its name says. */
export class NotImportable extends Error {
  override name = 'NotImportable';
}

const LONGEST = 100;

/** `Nightly backup (Berlin)` → `nightly-backup-berlin` */
export function sourceOf(name: string): string {
  const plain = name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9._:@/]+/g, '-')
    .slice(0, LONGEST)
    .replaceAll(/^[-./]+|[-./]+$/g, '')
    .replaceAll(/\/\.{1,2}(?=\/|$)/g, '');
  return plain || 'monitor';
}

export type Fields = Record<string, unknown>;

export const textIn = (from: Fields, name: string): string | null => {
  const value = from[name];
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null;
};

export const numberIn = (from: Fields, name: string): number | null => {
  const value = from[name];
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
};

/** The list that a file holds. @throws NotImportable */
export function listIn(text: string, names: readonly string[], what: string): Fields[] {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new NotImportable(`The file is no JSON: ${what} is expected.`);
  }
  const found = Array.isArray(json)
    ? json
    : names.map((name) => (json as Fields | null)?.[name]).find((one) => Array.isArray(one));
  if (!Array.isArray(found))
    throw new NotImportable(`The file holds no list ${names.join(' or ')}: ${what} is expected.`);
  return found.filter((one): one is Fields => typeof one === 'object' && one !== null && !Array.isArray(one));
}
