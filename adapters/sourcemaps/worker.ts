/**
 * Child process that reads maps and bundles, one job at a time. A map and its script arrive in
 * parts, one after the other, so that neither process holds packed and unpacked data together.
 */
import {
  MapRefused,
  type BundledFile,
  type PackedBytes,
  type PackedFile,
  type ScriptPosition,
  type SourcePosition,
} from '../../ports/source-maps/reader.js';
import { JsonScanner } from './json-scanner.js';
import { LIMITS } from './limits.js';
import { LoadedMap } from './loaded-map.js';
import { filesOf } from './manifest.js';
import { spendUpTo, usedMs } from './spend.js';
import { Unpacking } from './unpacking.js';
import { entriesOf, unpacked, type ZipDirectory } from './zip.js';

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

type Answer = MapAnswer extends infer A ? (A extends { usedMs: number } ? Omit<A, 'usedMs'> : never) : never;

const MANIFEST = 'manifest.json';

const loaded = new Map<string, LoadedMap>();
let held = 0;
let opened: { id: string; map: Unpacking; script: Unpacking | null } | null = null;

function makeRoom(bytes: number): void {
  for (const [oldest, { bytes: freed }] of loaded) {
    if (held + bytes <= LIMITS.cached) return;
    loaded.delete(oldest);
    held -= freed;
  }
}

async function load(): Promise<Answer> {
  const given = opened;
  opened = null;
  if (given === null) throw new MapRefused('was not sent', false);
  const map = await given.map.end();
  // Without a valid script of acceptable size only function names are missing.
  const script = await given.script?.end().catch(() => null);
  const made = new LoadedMap(map, script ?? null, spendUpTo(LIMITS.jobMs));
  makeRoom(made.bytes);
  loaded.set(given.id, made);
  held += made.bytes;
  return { taken: true };
}

function locate({ id, positions }: Extract<MapJob, { kind: 'locate' }>): Answer {
  const map = loaded.get(id);
  if (map === undefined) return { wanted: true };
  loaded.delete(id);
  loaded.set(id, map);
  const spend = spendUpTo(LIMITS.jobMs);
  try {
    return { places: positions.map((position) => map.locate(position, spend)) };
  } catch (error) {
    // The caller chose the positions, so the map is not at fault.
    if (error instanceof MapRefused) throw new MapRefused(error.why, false);
    throw error;
  }
}

function readManifest({ bytes, directory, manifest }: Extract<MapJob, { kind: 'files' }>): BundledFile[] {
  const text = unpacked(manifest, LIMITS.manifest);
  try {
    new JsonScanner(text, { values: LIMITS.manifestValues, depth: LIMITS.depth }).skip();
  } catch (error) {
    throw error instanceof MapRefused ? new MapRefused(`has a manifest that ${error.why}`) : error;
  }
  return filesOf(text.toString('utf8'), entriesOf(Buffer.from(bytes), directory));
}

function findManifest({ bytes, directory }: Extract<MapJob, { kind: 'manifest' }>): Answer {
  const manifest = entriesOf(Buffer.from(bytes), directory).get(MANIFEST);
  if (manifest === undefined) throw new MapRefused(`has no ${MANIFEST}`);
  if (manifest.packed > LIMITS.manifest) throw new MapRefused(`has a manifest of more than ${LIMITS.manifest} bytes`);
  return { manifest };
}

async function work(job: MapJob): Promise<Answer> {
  switch (job.kind) {
    case 'locate':
      return locate(job);
    case 'open': {
      const { id, map, script } = job;
      makeRoom(map.size + (script?.size ?? 0));
      opened = {
        id,
        map: new Unpacking(map, LIMITS.map),
        script: script === null ? null : new Unpacking(script, LIMITS.script),
      };
      return { taken: true };
    }
    case 'part':
      await opened?.[job.of]?.add(Buffer.from(job.bytes.buffer, job.bytes.byteOffset, job.bytes.length));
      return { taken: true };
    case 'load':
      return load();
    case 'files':
      return { files: readManifest(job) };
    case 'manifest':
      return findManifest(job);
    default:
      throw new MapRefused('was asked for in a way that nobody knows', false);
  }
}

async function answerTo(job: MapJob): Promise<Answer> {
  try {
    return await work(job);
  } catch (error) {
    if (error instanceof MapRefused) return { refused: error.why, lasting: error.lasting };
    if (!(error instanceof RangeError)) return { refused: 'is damaged', lasting: true };
    // V8 uses RangeError for both; only a deep call stack is caused by the input.
    const isDeep = error.message.includes('call stack');
    return isDeep
      ? { refused: 'is nested too deeply', lasting: true }
      : { refused: 'was not read: the process that reads maps is short of memory', lasting: false };
  }
}

process.on('message', (job: MapJob) => {
  const before = usedMs();
  void answerTo(job).then((answer) => process.send?.({ ...answer, usedMs: usedMs() - before }));
});
process.on('disconnect', () => process.exit(0));
// The service handles signals to the process group and stops its work in order.
process.on('SIGINT', () => undefined);
