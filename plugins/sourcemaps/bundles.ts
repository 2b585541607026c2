/**
 * Without transactions, a bundle's state shows the progress (docs/consistency.md): `assembling`,
 * then chunks and artifacts, then `ready`; `leaving`, then artifacts and chunks are deleted, then
 * the bundle. Only artifacts of ready bundles are used.
 */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { deflateRaw, inflateRaw } from 'node:zlib';
import { collection, inject, injectable, PORT, type Clock, type Collection } from '../../kernel/contract.js';
import { AHEAD_MS } from '../../lib/clock-skew.js';
import { each } from '../../lib/paging.js';
import { isoOf } from '../../lib/time.js';
import { StoreConflict } from '../../ports/store.js';
import type { BundledFile, SourceMaps, UploadedBytes } from '../../ports/source-maps/reader.js';
import { keyOf, PIECE_BYTES, type Artifact, type Bundle, type BundlePiece } from './model.js';

const PIECES_AT_ONCE = 8;
const ARTIFACTS_AT_ONCE = 200;
const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);
/** A chunk is stored deflated when it shrinks below this ratio. */
const WORTH_PACKING = 0.9;
const MOST_LISTED = 2_000;
/** Assembling takes seconds; an older one was interrupted. */
const CUT_OFF_MS = 3_600_000;

export interface BundlePlan {
  project: string;
  checksum: string;
  release: string | null;
  dist: string | null;
  size: number;
  piece(number: number): Promise<Uint8Array>;
  files(bytes: UploadedBytes): Promise<BundledFile[]>;
  by: string;
  /**
   * Verifies the uploader's credential again.
   * @throws ServiceError unauthorized
   */
  reauthorize(): Promise<void>;
}

@injectable()
export class Bundles {
  constructor(
    @inject(collection<Bundle>('bundles')) private readonly bundles: Collection<Bundle>,
    @inject(collection<BundlePiece>('pieces')) private readonly pieces: Collection<BundlePiece>,
    @inject(collection<Artifact>('artifacts')) private readonly artifacts: Collection<Artifact>,
    @inject(PORT.clock) private readonly clock: Clock,
    @inject(PORT.sourceMaps) readonly maps: SourceMaps,
  ) {}

  static idOf({ project, checksum, release, dist }: Pick<Bundle, 'project' | 'checksum' | 'release' | 'dist'>): string {
    const told = createHash('sha256')
      .update(JSON.stringify([checksum, release, dist]))
      .digest('hex');
    return `${project}:${told.slice(0, 32)}`;
  }

  /** Returns null when it does not exist or is being deleted. */
  async known(id: string): Promise<Bundle | null> {
    const found = await this.bundles.get(id);
    return found === null || found.state === 'leaving' ? null : found;
  }

  /**
   * Assembles a bundle and resolves once it is usable. Returns false while another call assembles
   * it.
   * @throws MapRefused, after deleting all parts
   */
  async make(plan: BundlePlan): Promise<boolean> {
    const id = Bundles.idOf(plan);
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
      await this.#fill(id, plan);
      const files = await plan.files(this.bytesOf({ id, size }));
      await this.#list(about, files);
      await plan.reauthorize();
      await this.bundles.change({ id, state: 'assembling' }, { set: { state: 'ready', files: files.length } });
      return true;
    } catch (error) {
      await this.remove(id);
      throw error;
    }
  }

  async #fill(id: string, plan: BundlePlan): Promise<void> {
    const count = Math.ceil(plan.size / PIECE_BYTES);
    for (let from = 0; from < count; from += PIECES_AT_ONCE) {
      const numbers = Array.from({ length: Math.min(PIECES_AT_ONCE, count - from) }, (_, i) => from + i);
      const docs = await Promise.all(numbers.map(async (n) => toPiece(`${id}:${n}`, await plan.piece(n))));
      await this.pieces.bulk(docs.map((put) => ({ put })));
    }
  }

  async #list(
    { id, project, release, dist, created_at }: Omit<Bundle, 'state'>,
    files: readonly BundledFile[],
  ): Promise<void> {
    for (let from = 0; from < files.length; from += ARTIFACTS_AT_ONCE) {
      const docs = files.slice(from, from + ARTIFACTS_AT_ONCE).map((file, i) => ({
        id: `${id}:${from + i}`,
        bundle: id,
        project,
        key: release === null ? null : keyOf(release, dist, file.url),
        debug_id: file.debugId,
        file,
        at: created_at,
        fault: null,
      }));
      await this.artifacts.bulk(docs.map((put) => ({ put })));
    }
  }

  async filesOf(
    project: string,
    release: string,
  ): Promise<{ sha1: string; name: string; dist: string | null; size: number }[]> {
    const files: { sha1: string; name: string; dist: string | null; size: number }[] = [];
    for await (const { id, checksum, dist } of each(this.bundles, {
      filter: { project, release, state: 'ready' },
      limit: 100,
    })) {
      for await (const { file } of each(this.artifacts, {
        filter: { id: { prefix: `${id}:` } },
        limit: ARTIFACTS_AT_ONCE,
      }))
        files.push({ sha1: checksum, name: file.url, dist, size: file.size });
      if (files.length >= MOST_LISTED) return files;
    }
    return files;
  }

  async retry(id: string): Promise<void> {
    const filter = { id: { prefix: `${id}:` }, fault: { ne: null } };
    while (
      (await this.artifacts.changeMany(filter, { set: { fault: null } }, ARTIFACTS_AT_ONCE)) === ARTIFACTS_AT_ONCE
    );
  }

  bytesOf({ id, size }: Pick<Bundle, 'id' | 'size'>): UploadedBytes {
    return {
      size,
      read: async (start, end) => {
        const last = Math.min(end, size);
        const bytes = Buffer.alloc(Math.max(0, last - start));
        for (let n = Math.floor(start / PIECE_BYTES); n * PIECE_BYTES < last; n++) {
          const from = n * PIECE_BYTES;
          const piece = await bytesFrom(await this.pieces.get(`${id}:${n}`));
          bytes.set(piece.subarray(Math.max(0, start - from), last - from), Math.max(0, from - start));
        }
        return bytes;
      },
    };
  }

  /** Deletes a bundle with its parts; `deleteIncomplete` completes an interrupted deletion. */
  async remove(id: string): Promise<void> {
    const found = await this.bundles.change({ id }, { set: { state: 'leaving' } });
    if (found === null) return;
    while ((await this.artifacts.remove({ id: { prefix: `${id}:` } }, ARTIFACTS_AT_ONCE)) === ARTIFACTS_AT_ONCE);
    while ((await this.pieces.remove({ id: { prefix: `${id}:` } }, PIECES_AT_ONCE)) === PIECES_AT_ONCE);
    await this.bundles.remove({ id });
  }

  async finish(signal: AbortSignal): Promise<void> {
    const before = new Date(this.clock.now() - CUT_OFF_MS).toISOString();
    await this.#removeAll({ state: 'leaving' }, signal);
    await this.#removeAll({ state: 'assembling', created_at: { lt: before } }, signal);
  }

  async expire(before: string, signal: AbortSignal): Promise<void> {
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
  async fit(project: string, most: number): Promise<void> {
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

  async forget(project: string): Promise<void> {
    await this.#removeAll({ project });
  }

  async some(project: string): Promise<boolean> {
    return (await this.bundles.find({ filter: { project, state: 'ready' }, limit: 1 })).items.length > 0;
  }

  /**
   * Records the use. A later time stays, unless it is in the future because a clock moved
   * backwards.
   */
  async used(id: string, at: string): Promise<void> {
    const ahead = isoOf(this.clock.now() + AHEAD_MS);
    await this.bundles.change(
      { id, or: [{ used_at: { lt: at } }, { used_at: { gt: ahead } }] },
      { set: { used_at: at } },
    );
  }
}

/** Most bundles are already compressed; a single file is not. */
async function toPiece(id: string, data: Uint8Array): Promise<BundlePiece> {
  const packed = await deflate(data, { level: 1 });
  return packed.length < data.length * WORTH_PACKING ? { id, data: packed, packed: true } : { id, data };
}

async function bytesFrom(piece: BundlePiece | null): Promise<Uint8Array> {
  if (piece?.packed !== true) return piece?.data ?? new Uint8Array();
  return inflate(piece.data, { maxOutputLength: PIECE_BYTES });
}
