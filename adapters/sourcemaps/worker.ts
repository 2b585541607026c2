/** The thread that reads maps and bundles: one job at a time. It ends with the first job that costs too much. */
import { parentPort } from 'node:worker_threads';
import {
  MapRefused,
  type BundledFile,
  type PackedBytes,
  type PackedFile,
  type ScriptPosition,
  type SourcePosition,
} from '../../ports/source-maps/reader.js';
import { LIMITS } from './limits.js';
import { LoadedMap } from './loaded-map.js';
import { filesOf } from './manifest.js';
import { entriesOf, unpacked, type ZipDirectory } from './zip.js';

export type MapJob =
  | { kind: 'manifest'; directory: ZipDirectory; bytes: Uint8Array }
  | { kind: 'files'; directory: ZipDirectory; bytes: Uint8Array; manifest: PackedBytes }
  | {
      kind: 'locate';
      id: string;
      positions: readonly ScriptPosition[];
      files: { map: PackedBytes; script: PackedBytes | null } | null;
    };

export type MapAnswer =
  | { refused: string }
  | { manifest: PackedFile }
  | { files: BundledFile[] }
  /** The map is not at hand: ask again, with its files. */
  | { wanted: true }
  | { places: (SourcePosition | null)[] };

const MANIFEST = 'manifest.json';

const loaded = new Map<string, { map: LoadedMap; size: number }>();
let held = 0;

function keep(id: string, map: LoadedMap, size: number): void {
  loaded.set(id, { map, size });
  held += size;
  for (const [oldest, entry] of loaded) {
    if (held <= LIMITS.cached || oldest === id) break;
    loaded.delete(oldest);
    held -= entry.size;
  }
}

function mapOf({ id, files }: Extract<MapJob, { kind: 'locate' }>): LoadedMap | null {
  const found = loaded.get(id);
  if (found !== undefined) {
    // The last one used is the last to go.
    loaded.delete(id);
    loaded.set(id, found);
    return found.map;
  }
  if (files === null) return null;
  const text = unpacked(files.map, LIMITS.map);
  const map = new LoadedMap(text.toString('utf8'), scriptOf(files.script));
  keep(id, map, text.length);
  return map;
}

/** A script that is too large, or damaged, costs the names of functions and nothing else. */
function scriptOf(script: PackedBytes | null): string | null {
  if (script === null) return null;
  try {
    return unpacked(script, LIMITS.script).toString('utf8');
  } catch (error) {
    if (error instanceof MapRefused) return null;
    throw error;
  }
}

function work(job: MapJob): MapAnswer {
  if (job.kind === 'locate') {
    const map = mapOf(job);
    return map === null ? { wanted: true } : { places: job.positions.map((position) => map.locate(position)) };
  }
  const entries = entriesOf(Buffer.from(job.bytes), job.directory);
  if (job.kind === 'files')
    return { files: filesOf(unpacked(job.manifest, LIMITS.manifest).toString('utf8'), entries) };
  const manifest = entries.get(MANIFEST);
  if (manifest === undefined) throw new MapRefused(`has no ${MANIFEST}`);
  return { manifest };
}

function answerTo(job: MapJob): MapAnswer {
  try {
    return work(job);
  } catch (error) {
    // Too deep a nesting is the upload's fault, and the thread is none the worse for it.
    if (error instanceof MapRefused) return { refused: error.why };
    return { refused: error instanceof RangeError ? 'is nested too deeply' : 'is damaged' };
  }
}

const port = parentPort;
if (!port) throw new Error('this module is a worker thread');
port.on('message', (job: MapJob) => port.postMessage(answerTo(job), []));
