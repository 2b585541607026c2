import { InvalidManifest, type ManifestFile } from './manifest.js';

/** A path has at most 2,048 characters, which JSON escapes as up to six bytes each. */
const MAX_ENTRY_BYTES = 16 * 1024;
const ENTRY_START = '{"path":';
const FILES_END = '],"preserve_patterns":';

/**
 * Finds a file of a manifest by its hash without parsing the manifest, which may have 96 MiB. Raw
 * quotes never occur inside JSON strings, so the searched texts are always members.
 * @param source bytes of a text that `formatManifest` wrote
 * @returns null when the manifest does not list the hash
 * @throws InvalidManifest
 */
export async function findManifestFile(
  source: AsyncIterable<Uint8Array>,
  sha256: string,
): Promise<Pick<ManifestFile, 'path' | 'size'> | null> {
  const needle = `,"sha256":"${sha256}","mode":"`;
  let window = Buffer.alloc(0);
  for await (const piece of source) {
    window = Buffer.concat([window.subarray(-MAX_ENTRY_BYTES), piece]);
    const end = window.indexOf(FILES_END);
    const at = window.indexOf(needle);
    if (at >= 0 && (end < 0 || at < end)) return parseEntry(window.subarray(0, at));
    if (end >= 0) return null;
  }
  return null;
}

function parseEntry(before: Buffer): Pick<ManifestFile, 'path' | 'size'> {
  const start = before.lastIndexOf(ENTRY_START);
  if (start < 0) throw new InvalidManifest('files', 'have an entry without a path');
  const { path, size } = JSON.parse(`${before.toString('utf8', start)}}`) as Partial<ManifestFile>;
  if (typeof path !== 'string' || typeof size !== 'number')
    throw new InvalidManifest('files', 'have an entry without path and size');
  return { path, size };
}
