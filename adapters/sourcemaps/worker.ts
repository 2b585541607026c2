/**
 * A map and its script arrive in parts, one after the other, so that neither process holds packed
 * and unpacked data together.
 */
import {
  SourceMapRejected,
  type BundledFile,
  type PackedBytes,
  type PackedFile,
  type ScriptPosition,
  type SourcePosition,
} from '../../ports/source-map-reader.js';
import { JsonScanner } from './json-scanner.js';
import { UPLOAD_LIMITS } from './limits.js';
import { LoadedMap } from './loaded-map.js';
import { parseManifestFiles } from './manifest.js';
import { createCpuBudget, getUsedCpuMs } from './cpu-budget.js';
import { StreamingUnpacker } from './streaming-unpacker.js';
import { parseZipEntries, unpackFile, type ZipDirectory } from './zip.js';

export type MapJob =
  | { kind: 'manifest'; directory: ZipDirectory; bytes: Uint8Array }
  | { kind: 'files'; directory: ZipDirectory; bytes: Uint8Array; manifest: PackedBytes }
  | { kind: 'locate'; id: string; positions: readonly ScriptPosition[] }
  /** Starts a requested map; its parts follow, then those of its script. */
  | { kind: 'open'; id: string; map: PackedFile; script: PackedFile | null }
  | { kind: 'part'; of: 'map' | 'script'; bytes: Uint8Array }
  | { kind: 'load' };

export type MapAnswer = {
  usedMs: number;
} & (
  | { refused: string; lasting: boolean }
  | { manifest: PackedFile }
  | { files: BundledFile[] }
  | { wanted: true }
  | { taken: true }
  | { places: (SourcePosition | null)[] }
);

type JobResult = MapAnswer extends infer A ? (A extends { usedMs: number } ? Omit<A, 'usedMs'> : never) : never;

const MANIFEST_FILE = 'manifest.json';

const loadedMaps = new Map<string, LoadedMap>();
let heldBytes = 0;
let openedMap: { id: string; map: StreamingUnpacker; script: StreamingUnpacker | null } | null = null;

function evictUntilFits(bytes: number): void {
  for (const [oldest, { bytes: freedBytes }] of loadedMaps) {
    if (heldBytes + bytes <= UPLOAD_LIMITS.cached) return;
    loadedMaps.delete(oldest);
    heldBytes -= freedBytes;
  }
}

async function loadOpenedMap(): Promise<JobResult> {
  const given = openedMap;
  openedMap = null;
  if (given === null) throw new SourceMapRejected('was not sent', false);
  const map = await given.map.end();
  // Without a valid script of acceptable size only function names are missing.
  const script = await given.script?.end().catch(() => null);
  const made = new LoadedMap(map, script ?? null, createCpuBudget(UPLOAD_LIMITS.jobMs));
  evictUntilFits(made.bytes);
  loadedMaps.set(given.id, made);
  heldBytes += made.bytes;
  return { taken: true };
}

function locatePositions({ id, positions }: Extract<MapJob, { kind: 'locate' }>): JobResult {
  const map = loadedMaps.get(id);
  if (map === undefined) return { wanted: true };
  loadedMaps.delete(id);
  loadedMaps.set(id, map);
  const spend = createCpuBudget(UPLOAD_LIMITS.jobMs);
  try {
    return { places: positions.map((position) => map.locate(position, spend)) };
  } catch (error) {
    // The caller chose the positions, so the map is not at fault.
    if (error instanceof SourceMapRejected) throw new SourceMapRejected(error.why, false);
    throw error;
  }
}

function readManifest({ bytes, directory, manifest }: Extract<MapJob, { kind: 'files' }>): BundledFile[] {
  const text = unpackFile(manifest, UPLOAD_LIMITS.manifest);
  try {
    new JsonScanner(text, { values: UPLOAD_LIMITS.manifestValues, depth: UPLOAD_LIMITS.depth }).skip();
  } catch (error) {
    throw error instanceof SourceMapRejected ? new SourceMapRejected(`has a manifest that ${error.why}`) : error;
  }
  return parseManifestFiles(text.toString('utf8'), parseZipEntries(Buffer.from(bytes), directory));
}

function findManifest({ bytes, directory }: Extract<MapJob, { kind: 'manifest' }>): JobResult {
  const manifest = parseZipEntries(Buffer.from(bytes), directory).get(MANIFEST_FILE);
  if (manifest === undefined) throw new SourceMapRejected(`has no ${MANIFEST_FILE}`);
  if (manifest.packed > UPLOAD_LIMITS.manifest)
    throw new SourceMapRejected(`has a manifest of more than ${UPLOAD_LIMITS.manifest} bytes`);
  return { manifest };
}

async function runJob(job: MapJob): Promise<JobResult> {
  switch (job.kind) {
    case 'locate':
      return locatePositions(job);
    case 'open': {
      const { id, map, script } = job;
      evictUntilFits(map.size + (script?.size ?? 0));
      openedMap = {
        id,
        map: new StreamingUnpacker(map, UPLOAD_LIMITS.map),
        script: script === null ? null : new StreamingUnpacker(script, UPLOAD_LIMITS.script),
      };
      return { taken: true };
    }
    case 'part':
      await openedMap?.[job.of]?.add(Buffer.from(job.bytes.buffer, job.bytes.byteOffset, job.bytes.length));
      return { taken: true };
    case 'load':
      return loadOpenedMap();
    case 'files':
      return { files: readManifest(job) };
    case 'manifest':
      return findManifest(job);
    default:
      throw new SourceMapRejected('was requested with an unknown message', false);
  }
}

async function buildAnswer(job: MapJob): Promise<JobResult> {
  try {
    return await runJob(job);
  } catch (error) {
    if (error instanceof SourceMapRejected) return { refused: error.why, lasting: error.lasting };
    if (!(error instanceof RangeError)) return { refused: 'is damaged', lasting: true };
    // V8 uses RangeError for both; only a deep call stack is caused by the input.
    const isDeep = error.message.includes('call stack');
    return isDeep
      ? { refused: 'is nested too deeply', lasting: true }
      : { refused: 'was not read: the source map process is out of memory', lasting: false };
  }
}

process.on('message', (job: MapJob) => {
  const before = getUsedCpuMs();
  void buildAnswer(job).then((answer) => process.send?.({ ...answer, usedMs: getUsedCpuMs() - before }));
});
process.on('disconnect', () => process.exit(0));
// The service handles signals to the process group and stops its work in order.
process.on('SIGINT', () => undefined);
