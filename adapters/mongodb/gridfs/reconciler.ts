/**
 * Removes expired replaced files, marks orphans, and finds packages with missing chunks
 * (docs/consistency.md, releases).
 */
import { ObjectId } from 'mongodb';
import { HOUR_MS } from '../../../lib/time.js';
import type { ReleaseLocation, SweepResult } from '../../../ports/release-store.js';
import { CHUNK_BYTES, type GridFsBlobs } from './blobs.js';
import type { GridFsContents } from './contents.js';
import { iteratePages, type GridFsDatabase, type FolderFile } from './database.js';
import type { ReleaseFolders } from './folders.js';
import type { FileMarks } from './marks.js';

/** For a large package over a slow connection. */
const REPLACED_RETENTION_MS = 6 * HOUR_MS;
const BATCH_FILES = 200;

export class GridFsReconciler {
  /** @param keepMs milliseconds */
  constructor(
    private readonly parts: {
      database: GridFsDatabase;
      folders: ReleaseFolders;
      blobs: GridFsBlobs;
      marks: FileMarks;
      contents: GridFsContents;
    },
    private readonly keepMs = REPLACED_RETENTION_MS,
  ) {}

  async run(signal?: AbortSignal): Promise<SweepResult> {
    const { marks } = this.parts;
    let removed = 0;
    for await (const id of marks.iterateRetired(this.keepMs)) {
      if (signal?.aborted === true) return { removed, damaged: [] };
      if (await marks.purge(id)) removed++;
    }
    removed += await this.parts.contents.removeUnlisted(signal);
    await this.#markOrphans(signal);
    return { removed, damaged: await this.#findDamaged(signal) };
  }

  /**
   * Retires files and chunks that neither a mark nor a folder references. They come from writes
   * after an upload was given up, or from a crash between writing a folder and marking what it
   * replaced.
   */
  async #markOrphans(signal?: AbortSignal): Promise<void> {
    for await (const ids of this.#iterateStoredIds()) {
      if (signal?.aborted === true) return;
      const { marks } = this.parts;
      // Read marks first: an upload's mark is removed once a folder references it.
      const marked = await marks.filterMarked(ids);
      const unmarked = ids.filter((id) => !marked.has(id.toHexString()));
      const named = unmarked.length === 0 ? new Set<string>() : await marks.filterReferenced(unmarked);
      await marks.retire(unmarked.filter((id) => !named.has(id.toHexString())));
    }
  }

  /** Ids of files and chunks: each may exist without the other. */
  async *#iterateStoredIds(): AsyncGenerator<ObjectId[]> {
    const { database } = this.parts;
    for await (const files of iteratePages<{ _id: ObjectId }>((after, limit) => {
      const options = { projection: { _id: 1 }, sort: { _id: 1 }, limit } as const;
      return database.run(() => database.files.find(after === null ? {} : { _id: { $gt: after } }, options).toArray());
    }))
      yield files.map(({ _id }) => _id);
    let after = new ObjectId('0'.repeat(24));
    for (let ids: ObjectId[] = []; ;) {
      const options = { projection: { _id: 0, files_id: 1 }, sort: { files_id: 1, n: 1 }, limit: 1 } as const;
      const [next] = await database.run(() => database.chunks.find({ files_id: { $gt: after } }, options).toArray());
      if (next !== undefined) ids.push((after = next.files_id));
      if (ids.length >= BATCH_FILES || next === undefined) {
        yield ids;
        ids = [];
      }
      if (next === undefined) return;
    }
  }

  async #findDamaged(signal?: AbortSignal): Promise<ReleaseLocation[]> {
    const { folders, blobs } = this.parts;
    const damaged: ReleaseLocation[] = [];
    for await (const { _id, package: held } of folders.iterateFolders('place')) {
      if (signal?.aborted === true) return damaged;
      if (held?.file === undefined || (await blobs.countChunks(held.file)) === countExpectedChunks(held)) continue;
      const [product = '', channel = '', version = '', platform = ''] = _id.split('/');
      damaged.push({ product, channel, version, platform });
    }
    return damaged;
  }
}

const countExpectedChunks = ({ size, chunk = CHUNK_BYTES }: FolderFile): number => Math.ceil(size / chunk);
