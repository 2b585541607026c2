/**
 * The reconciler of GridFS (docs/consistency.md, releases). Removes expired replaced files, marks
 * orphans, and finds packages with missing chunks.
 */
import { ObjectId } from 'mongodb';
import { HOUR_MS } from '../../../lib/time.js';
import type { ReleasePlace, Swept } from '../../../ports/release-store.js';
import { CHUNK_BYTES, type Blobs } from './blobs.js';
import { paged, type GridFsDatabase, type Kept } from './database.js';
import type { Folders } from './folders.js';
import type { FileMarks } from './marks.js';

/**
 * How long a replaced file remains readable for in-progress downloads: a large package over a slow
 * connection.
 */
const KEEP_MS = 6 * HOUR_MS;
const BATCH = 200;

export class Sweep {
  /** @param keepMs milliseconds */
  constructor(
    private readonly parts: { database: GridFsDatabase; folders: Folders; blobs: Blobs; marks: FileMarks },
    private readonly keepMs = KEEP_MS,
  ) {}

  async run(signal?: AbortSignal): Promise<Swept> {
    const { marks } = this.parts;
    let removed = 0;
    for await (const id of marks.retiredFor(this.keepMs)) {
      if (signal?.aborted === true) return { removed, damaged: [] };
      if (await marks.purge(id)) removed++;
    }
    await this.#markOrphans(signal);
    return { removed, damaged: await this.#damaged(signal) };
  }

  /**
   * Retires files and chunks that neither a mark nor a folder references. They come from writes
   * after an upload was given up, or from a crash between writing a folder and marking what it
   * replaced.
   */
  async #markOrphans(signal?: AbortSignal): Promise<void> {
    for await (const ids of this.#stored()) {
      if (signal?.aborted === true) return;
      const { marks } = this.parts;
      // Read marks first: an upload's mark is removed once a folder references it.
      const marked = await marks.marked(ids);
      const unmarked = ids.filter((id) => !marked.has(id.toHexString()));
      const named = unmarked.length === 0 ? new Set<string>() : await marks.named(unmarked);
      await marks.retire(unmarked.filter((id) => !named.has(id.toHexString())));
    }
  }

  /** Iterates over ids of stored files and chunks: each may exist without the other. */
  async *#stored(): AsyncGenerator<ObjectId[]> {
    const { database } = this.parts;
    for await (const files of paged<{ _id: ObjectId }>((after, limit) => {
      const options = { projection: { _id: 1 }, sort: { _id: 1 }, limit } as const;
      return database.run(() => database.files.find(after === null ? {} : { _id: { $gt: after } }, options).toArray());
    }))
      yield files.map(({ _id }) => _id);
    let after = new ObjectId('0'.repeat(24));
    for (let ids: ObjectId[] = []; ;) {
      const options = { projection: { _id: 0, files_id: 1 }, sort: { files_id: 1, n: 1 }, limit: 1 } as const;
      const [next] = await database.run(() => database.chunks.find({ files_id: { $gt: after } }, options).toArray());
      if (next !== undefined) ids.push((after = next.files_id));
      if (ids.length >= BATCH || next === undefined) {
        yield ids;
        ids = [];
      }
      if (next === undefined) return;
    }
  }

  async #damaged(signal?: AbortSignal): Promise<ReleasePlace[]> {
    const { folders, blobs } = this.parts;
    const damaged: ReleasePlace[] = [];
    for await (const { _id, package: held } of folders.all('place')) {
      if (signal?.aborted === true) return damaged;
      if (held?.file === undefined || (await blobs.pieces(held.file)) === piecesOf(held)) continue;
      const [product = '', channel = '', version = '', platform = ''] = _id.split('/');
      damaged.push({ product, channel, version, platform });
    }
    return damaged;
  }
}

const piecesOf = ({ size, chunk = CHUNK_BYTES }: Kept): number => Math.ceil(size / chunk);
