import { ArchiveRejectedError } from './archive-rejected-error.js';

/** `export`: documents as JSON lines, without plaintext secrets. */
export type ArchiveKind = 'backup' | 'export';

export interface ArchiveHead {
  format: 'aos-archive';
  /** Increases when earlier readers cannot read the archive. */
  format_version: number;
  kind: ArchiveKind;
  version: string;
  /** RFC 3339, UTC. */
  created_at: string;
  engine: string;
  releases: boolean;
  /** One-way fingerprints of the store's keys, by setting. */
  keys: Record<string, string>;
  /**
   * In an export: the applied migrations except those of indexes. Null in a backup, whose store
   * contains them.
   */
  migrations: string[] | null;
}

export const FORMAT_VERSION = 1;
export const HEAD_ENTRY = 'archive.json';
/** The last entry: the hash of every other entry. */
export const HASHES_ENTRY = 'hashes.json';

/** @throws ArchiveRejected when this version cannot read it */
export function parseArchiveHead(text: string): ArchiveHead {
  const head = parseArchiveJson(text) as Partial<ArchiveHead> | null;
  if (head?.format !== 'aos-archive') throw new ArchiveRejectedError('is not an AOS archive');
  if (head.format_version !== FORMAT_VERSION)
    throw new ArchiveRejectedError(
      `has format ${String(head.format_version)}, but this version reads format ${FORMAT_VERSION}`,
    );
  const { kind, keys, migrations } = head;
  if (kind !== 'backup' && kind !== 'export') throw new ArchiveRejectedError('has an unknown kind');
  if (migrations !== null && !Array.isArray(migrations)) throw createIncompleteError();
  const texts = [head.version, head.created_at, head.engine, ...(migrations ?? [])];
  if (texts.some((one) => typeof one !== 'string') || typeof keys !== 'object' || keys === null)
    throw createIncompleteError();
  return head as ArchiveHead;
}

const createIncompleteError = (): ArchiveRejectedError => new ArchiveRejectedError(`has an incomplete ${HEAD_ENTRY}`);

/** @throws ArchiveRejected */
export function parseArchiveJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ArchiveRejectedError('contains JSON that cannot be parsed');
  }
}
