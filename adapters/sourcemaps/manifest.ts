/** Parses `manifest.json` of an artifact bundle, which is untrusted input. */
import { parseGuid } from '../../lib/text/guid.js';
import { MapRefused, type BundledFile, type PackedFile } from '../../ports/source-maps/reader.js';

const LONGEST_URL = 1_000;

const KINDS: Readonly<Record<string, BundledFile['kind']>> = { minified_source: 'script', source_map: 'map' };

type Loose = Readonly<Record<string, unknown>>;

const record = (value: unknown): Loose | null =>
  value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Loose) : null;

/**
 * Returns the scripts and maps that the manifest lists and the archive contains.
 * @throws MapRefused
 */
export function filesOf(manifest: string, entries: ReadonlyMap<string, PackedFile>): BundledFile[] {
  const files = record(record(parsed(manifest))?.['files']);
  if (files === null) throw new MapRefused('has a manifest without files');
  return Object.entries(files).flatMap(([path, value]) => {
    const entry = entries.get(path);
    const about = record(value);
    const type = about?.['type'];
    const kind = typeof type === 'string' && Object.hasOwn(KINDS, type) ? KINDS[type] : undefined;
    const url = about?.['url'];
    if (entry === undefined || kind === undefined || typeof url !== 'string' || url.length > LONGEST_URL) return [];
    const headers = lowerCased(record(about?.['headers']) ?? {});
    const { 'debug-id': debugId } = headers;
    const mapUrl = headers['sourcemap'] ?? headers['x-sourcemap'];
    return [
      {
        ...entry,
        kind,
        url,
        debugId: typeof debugId === 'string' ? parseGuid(debugId) : null,
        mapUrl: typeof mapUrl === 'string' && mapUrl.length <= LONGEST_URL ? mapUrl : null,
      },
    ];
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new MapRefused('has a manifest that is no JSON');
  }
}

const lowerCased = (headers: Loose): Loose =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
