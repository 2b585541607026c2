/** Parses `manifest.json` of an artifact bundle, which is untrusted input. */
import { parseGuid } from '../../lib/text/guid.js';
import { SourceMapRejected, type BundledFile, type PackedFile } from '../../ports/source-map-reader.js';

const MAX_URL_LENGTH = 1_000;

const FILE_KINDS: Readonly<Record<string, BundledFile['kind']>> = { minified_source: 'script', source_map: 'map' };

type LooseRecord = Readonly<Record<string, unknown>>;

const toRecord = (value: unknown): LooseRecord | null =>
  value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as LooseRecord) : null;

/**
 * Listed by the manifest and contained in the archive.
 * @throws MapRefused
 */
export function parseManifestFiles(manifest: string, entries: ReadonlyMap<string, PackedFile>): BundledFile[] {
  const files = toRecord(toRecord(parseJson(manifest))?.['files']);
  if (files === null) throw new SourceMapRejected('has a manifest without files');
  return Object.entries(files).flatMap(([path, value]) => {
    const entry = entries.get(path);
    const about = toRecord(value);
    const type = about?.['type'];
    const kind = typeof type === 'string' && Object.hasOwn(FILE_KINDS, type) ? FILE_KINDS[type] : undefined;
    const url = about?.['url'];
    if (entry === undefined || kind === undefined || typeof url !== 'string' || url.length > MAX_URL_LENGTH) return [];
    const headers = toLowerCaseKeys(toRecord(about?.['headers']) ?? {});
    const { 'debug-id': debugId } = headers;
    const mapUrl = headers['sourcemap'] ?? headers['x-sourcemap'];
    return [
      {
        ...entry,
        kind,
        url,
        debugId: typeof debugId === 'string' ? parseGuid(debugId) : null,
        mapUrl: typeof mapUrl === 'string' && mapUrl.length <= MAX_URL_LENGTH ? mapUrl : null,
      },
    ];
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new SourceMapRejected('has a manifest that is not valid JSON');
  }
}

const toLowerCaseKeys = (headers: LooseRecord): LooseRecord =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
