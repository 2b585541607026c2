/**
 * Without transactions, a bundle's state shows the progress (docs/consistency.md): `assembling`,
 * then chunks and artifacts, then `ready`; `leaving`, then artifacts and chunks are deleted, then
 * the bundle.
 */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { deflateRaw, inflateRaw } from 'node:zlib';
import { collection, inject, injectable, PORT, type Clock, type Collection } from '../../kernel/contract/index.js';
import { MAX_AHEAD_MS } from '../../lib/clock-skew.js';
import { iterateItems } from '../../lib/paging.js';
import { toIsoString } from '../../lib/time.js';
import { StoreConflict } from '../../ports/store/index.js';
import type { BundledFile, SourceMaps, UploadedBytes } from '../../ports/source-map-reader.js';
import { toArtifactKey, CHUNK_BYTES, type Artifact, type Bundle, type BundleChunk } from './model.js';

const CHUNK_BATCH_SIZE = 8;
const ARTIFACT_BATCH_SIZE = 200;
const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);
/** A chunk is stored deflated when it shrinks below this ratio. */
const MAX_PACKED_RATIO = 0.9;
const MAX_LISTED_FILES = 2_000;
/** Assembling takes seconds; an older one was interrupted. */
const STALE_ASSEMBLY_MS = 3_600_000;

export interface BundlePlan {
  project: string;
  checksum: string;
  release: string | null;
  dist: string | null;
  size: number;
  readChunk(number: number): Promise<Uint8Array>;
  listFiles(bytes: UploadedBytes): Promise<BundledFile[]>;
  by: string;
  /**
   * Verifies the uploader's credential again.
   * @throws ServiceError unauthorized
   */
  reauthorize(): Promise<void>;
}

@injectable()
export class BundleService {
  constructor(
    @inject(collection<Bundle>('bundles')) private readonly bundles: Collection<Bundle>,
    @inject(collection<BundleChunk>('pieces')) private readonly pieces: Collection<BundleChunk>,
    @inject(collection<Artifact>('artifacts')) private readonly artifacts: Collection<Artifact>,
    @inject(PORT.clock) private readonly clock: Clock,
    @inject(PORT.sourceMaps) readonly maps: SourceMaps,
  ) {}

  static toBundleId({
    project,
    checksum,
    release,
    dist,
  }: Pick<Bundle, 'project' | 'checksum' | 'release' | 'dist'>): string {
    const bundleHash = createHash('sha256')
      .update(JSON.stringify([checksum, release, dist]))
      .digest('hex');
    return `${project}:${bundleHash.slice(0, 32)}`;
  }

  /** Returns null when it does not exist or is being deleted. */
  async find(id: string): Promise<Bundle | null> {
    const found = await this.bundles.get(id);
    return found === null || found.state === 'leaving' ? null : found;
  }

  /**
   * Returns false while another call assembles it.
   * @throws MapRefused, after deleting all parts
   */
  async assemble(plan: BundlePlan): Promise<boolean> {
    const id = BundleService.toBundleId(plan);
    const { project, checksum, release, dist, size, by } = plan;
    const at = this.clock.iso();
    const about = { id, project, checksum, release, dist, size, files: 0, created_by: by, created_at: at, used_at: at };
    try {
      await this.bundles.insert({ ...about, state: 'assembling' });
    } catch (error) {
      if (error instanceof StoreConflict) return false;
      throw error;
    }
    try {
      await this.#storeParts(id, plan);
      const files = await plan.listFiles(this.readUpload({ id, size }));
      await this.#storeArtifacts(about, files);
      await plan.reauthorize();
      await this.bundles.change({ id, state: 'assembling' }, { set: { state: 'ready', files: files.length } });
      return true;
    } catch (error) {
      await this.remove(id);
      throw error;
    }
  }

  async #storeParts(id: string, plan: BundlePlan): Promise<void> {
    const count = Math.ceil(plan.size / CHUNK_BYTES);
    for (let from = 0; from < count; from += CHUNK_BATCH_SIZE) {
      const numbers = Array.from({ length: Math.min(CHUNK_BATCH_SIZE, count - from) }, (_, i) => from + i);
      const docs = await Promise.all(numbers.map(async (n) => packPiece(`${id}:${n}`, await plan.readChunk(n))));
      await this.pieces.bulk(docs.map((put) => ({ put })));
    }
  }

  async #storeArtifacts(
    { id, project, release, dist, created_at }: Omit<Bundle, 'state'>,
    files: readonly BundledFile[],
  ): Promise<void> {
    for (let from = 0; from < files.length; from += ARTIFACT_BATCH_SIZE) {
      const docs = files.slice(from, from + ARTIFACT_BATCH_SIZE).map((file, i) => ({
        id: `${id}:${from + i}`,
        bundle: id,
        project,
        key: release === null ? null : toArtifactKey(release, dist, file.url),
        debug_id: file.debugId,
        file,
        at: created_at,
        fault: null,
      }));
      await this.artifacts.bulk(docs.map((put) => ({ put })));
    }
  }

  async listFiles(
    project: string,
    release: string,
  ): Promise<{ sha1: string; name: string; dist: string | null; size: number }[]> {
    const files: { sha1: string; name: string; dist: string | null; size: number }[] = [];
    for await (const { id, checksum, dist } of iterateItems(this.bundles, {
      filter: { project, release, state: 'ready' },
      limit: 100,
    })) {
      for await (const { file } of iterateItems(this.artifacts, {
        filter: { id: { prefix: `${id}:` } },
        limit: ARTIFACT_BATCH_SIZE,
      }))
        files.push({ sha1: checksum, name: file.url, dist, size: file.size });
      if (files.length >= MAX_LISTED_FILES) return files;
    }
    return files;
  }

  async retryFaulty(id: string): Promise<void> {
    const filter = { id: { prefix: `${id}:` }, fault: { ne: null } };
    while (
      (await this.artifacts.changeMany(filter, { set: { fault: null } }, ARTIFACT_BATCH_SIZE)) === ARTIFACT_BATCH_SIZE
    );
  }

  readUpload({ id, size }: Pick<Bundle, 'id' | 'size'>): UploadedBytes {
    return {
      size,
      read: async (start, end) => {
        const last = Math.min(end, size);
        const bytes = Buffer.alloc(Math.max(0, last - start));
        for (let n = Math.floor(start / CHUNK_BYTES); n * CHUNK_BYTES < last; n++) {
          const from = n * CHUNK_BYTES;
          const piece = await unpackPiece(await this.pieces.get(`${id}:${n}`));
          bytes.set(piece.subarray(Math.max(0, start - from), last - from), Math.max(0, from - start));
        }
        return bytes;
      },
    };
  }

  async remove(id: string): Promise<void> {
    const found = await this.bundles.change({ id }, { set: { state: 'leaving' } });
    if (found === null) return;
    while ((await this.artifacts.remove({ id: { prefix: `${id}:` } }, ARTIFACT_BATCH_SIZE)) === ARTIFACT_BATCH_SIZE);
    while ((await this.pieces.remove({ id: { prefix: `${id}:` } }, CHUNK_BATCH_SIZE)) === CHUNK_BATCH_SIZE);
    await this.bundles.remove({ id });
  }

  async deleteIncomplete(signal: AbortSignal): Promise<void> {
    const before = new Date(this.clock.now() - STALE_ASSEMBLY_MS).toISOString();
    await this.#removeAll({ state: 'leaving' }, signal);
    await this.#removeAll({ state: 'assembling', created_at: { lt: before } }, signal);
  }

  async deleteUnused(before: string, signal: AbortSignal): Promise<void> {
    await this.#removeAll({ state: 'ready', used_at: { lt: before } }, signal);
  }

  async #removeAll(filter: Parameters<Collection<Bundle>['count']>[0], signal?: AbortSignal): Promise<void> {
    for (;;) {
      const { items } = await this.bundles.find({ filter: filter ?? {}, limit: 50 });
      for (const { id } of items) {
        if (signal?.aborted === true) return;
        await this.remove(id);
      }
      if (items.length < 50) return;
    }
  }

  /** Deletes the oldest bundles of a project until the others have at most `most` bytes. */
  async enforceLimit(project: string, most: number): Promise<void> {
    let after: string | null = null;
    let sum = 0;
    const tooMuch: string[] = [];
    do {
      const page: { items: Bundle[]; next: string | null } = await this.bundles.find({
        filter: { project, state: 'ready' },
        sort: [['created_at', 'desc']],
        limit: 200,
        after,
      });
      for (const { id, size } of page.items) {
        sum += size;
        if (sum > most) tooMuch.push(id);
      }
      after = page.next;
    } while (after !== null);
    for (const id of tooMuch) await this.remove(id);
  }

  async deleteProject(project: string): Promise<void> {
    await this.#removeAll({ project });
  }

  async hasBundles(project: string): Promise<boolean> {
    return (await this.bundles.find({ filter: { project, state: 'ready' }, limit: 1 })).items.length > 0;
  }

  /** A later time stays, unless it is in the future. */
  async recordUse(id: string, at: string): Promise<void> {
    const ahead = toIsoString(this.clock.now() + MAX_AHEAD_MS);
    await this.bundles.change(
      { id, or: [{ used_at: { lt: at } }, { used_at: { gt: ahead } }] },
      { set: { used_at: at } },
    );
  }
}

/** Most bundles are already compressed; a single file is not. */
async function packPiece(id: string, data: Uint8Array): Promise<BundleChunk> {
  const packed = await deflate(data, { level: 1 });
  return packed.length < data.length * MAX_PACKED_RATIO ? { id, data: packed, packed: true } : { id, data };
}

async function unpackPiece(piece: BundleChunk | null): Promise<Uint8Array> {
  if (piece?.packed !== true) return piece?.data ?? new Uint8Array();
  return inflate(piece.data, { maxOutputLength: CHUNK_BYTES });
}
