/** What an archive says of itself in its first entry, and the names of its own entries (docs/archives.md). */
import { ArchiveRejected } from './rejected.js';

/**
 * `backup`: the embedded store as a file, with its keys. `export`: documents as JSON lines, without secrets in clear.
 */
export type ArchiveKind = 'backup' | 'export';

export interface ArchiveHead {
  format: 'aos-archive';
  /** Rises when a reader of before could not read it. */
  format_version: number;
  kind: ArchiveKind;
  /** Version of AOS that wrote it. */
  version: string;
  /** RFC 3339, UTC. */
  created_at: string;
  /** The engine that it was read from. */
  engine: string;
  /** Whether release packages are in it. */
  releases: boolean;
  /** One-way fingerprints of the keys that the store is used with, by setting. */
  keys: Record<string, string>;
  /**
   * Of an export: the migrations that its documents have been through, without those of indexes. Of a backup null: its
   * store says so.
   */
  migrations: string[] | null;
}

export const FORMAT_VERSION = 1;
export const HEAD_ENTRY = 'archive.json';
/** Last: the hash of every other entry. The name `manifest.json` belongs to packages. */
export const HASHES_ENTRY = 'hashes.json';

/** @throws ArchiveRejected when this version cannot read it */
export function headOf(text: string): ArchiveHead {
  const head = parsed(text) as Partial<ArchiveHead> | null;
  if (head?.format !== 'aos-archive') throw new ArchiveRejected('is no archive of AOS');
  if (head.format_version !== FORMAT_VERSION)
    throw new ArchiveRejected(`has format ${String(head.format_version)}, and this version reads ${FORMAT_VERSION}`);
  const { kind, keys, migrations } = head;
  if (kind !== 'backup' && kind !== 'export') throw new ArchiveRejected('is of an unknown kind');
  if (migrations !== null && !Array.isArray(migrations)) throw notWhole();
  const texts = [head.version, head.created_at, head.engine, ...(migrations ?? [])];
  if (texts.some((one) => typeof one !== 'string') || typeof keys !== 'object' || keys === null) throw notWhole();
  return head as ArchiveHead;
}

const notWhole = (): ArchiveRejected => new ArchiveRejected(`has a ${HEAD_ENTRY} that is not whole`);

/** @throws ArchiveRejected */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ArchiveRejected('holds JSON that cannot be read');
  }
}
