/** The marks of what is in GridFS and no folder names (database.ts, MarkDoc). */
import { ObjectId } from 'mongodb';
import { FILE_FIELDS, paged, type GridFsDatabase, type Kept, type MarkDoc } from './database.js';
import type { Blobs } from './blobs.js';

/** An upload that goes on says so this often. */
const RENEW_MS = 60_000;

export class FileMarks {
  constructor(
    private readonly database: GridFsDatabase,
    private readonly blobs: Blobs,
  ) {}

  /** Before the first byte. Answers the file's id. */
  async begin(): Promise<ObjectId> {
    const id = new ObjectId();
    await this.#mark(id, 'incoming');
    return id;
  }

  /**
   * The bytes as they come; while they do, the mark stays young.
   * @throws Error when the upload was given up by another
   */
  async *renewing(id: ObjectId, bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    let renewedAt = performance.now();
    for await (const piece of bytes) {
      if (performance.now() - renewedAt > RENEW_MS) {
        renewedAt = performance.now();
        const { matchedCount } = await this.database.write(() =>
          this.database.marks.updateOne({ _id: id, state: 'incoming' }, { $currentDate: { at: true } }),
        );
        if (matchedCount === 0) throw new Error('the upload was silent for so long that it was given up');
      }
      yield piece;
    }
  }

  /** It is whole. @throws Error when the upload was given up by another */
  async staged(id: ObjectId, { size, sha256 }: { size: number; sha256: string }): Promise<void> {
    const whole = { $set: { state: 'staged', size, sha256 }, $currentDate: { at: true } } as const;
    const { matchedCount } = await this.database.write(() =>
      this.database.marks.updateOne({ _id: id, state: 'incoming' }, whole),
    );
    if (matchedCount === 0) throw new Error('the upload was silent for so long that it was given up');
  }

  /** @throws Error when nothing is staged under the id */
  async whole(id: ObjectId): Promise<{ size: number; sha256: string }> {
    const mark = await this.database.run(() => this.database.marks.findOne({ _id: id, state: 'staged' }));
    if (mark?.size === undefined || mark.sha256 === undefined)
      throw new Error(`nothing is staged under ${id.toHexString()}`);
    return { size: mark.size, sha256: mark.sha256 };
  }

  /** What arrives or is staged, with its age in milliseconds. */
  async *waiting(): AsyncGenerator<{ id: ObjectId; ageMs: number }> {
    const now = await this.database.now();
    for (const state of ['incoming', 'staged'] as const)
      for await (const marks of this.#all(state)) for (const { _id: id, at } of marks) yield { id, ageMs: now - +at };
  }

  /** What was retired longer ago than this. @param ms milliseconds */
  async *retiredFor(ms: number): AsyncGenerator<ObjectId> {
    const now = await this.database.now();
    for await (const marks of this.#all('retired')) for (const { _id: id, at } of marks) if (now - +at >= ms) yield id;
  }

  /** A folder names it now. */
  async settle(id: ObjectId): Promise<void> {
    await this.database.write(() => this.database.marks.deleteOne({ _id: id }));
  }

  /** No folder names it any more: who reads it may go on for a while. */
  async retire(files: readonly (ObjectId | undefined)[]): Promise<void> {
    for (const file of files) if (file !== undefined) await this.#mark(file, 'retired');
  }

  /** Shall be read no longer, not even by who has begun: the next sweep removes what no folder names then. */
  async condemn(files: readonly ObjectId[]): Promise<void> {
    const set = { $set: { state: 'retired', at: new Date(0) } } as const;
    for (const file of files)
      await this.database.upsert(() => this.database.marks.updateOne({ _id: file }, set, { upsert: true }));
  }

  /** Removes what is staged or arrives, at once. Not what a put has placed and could not settle. */
  async discard(id: ObjectId): Promise<void> {
    const waiting = { _id: id, state: { $in: ['incoming', 'staged'] as const } } as never;
    const { matchedCount } = await this.database.write(() =>
      this.database.marks.updateOne(waiting, { $set: { state: 'retired' } }),
    );
    if (matchedCount > 0) await this.purge(id);
  }

  /** Removes a retired file, unless a folder names it. True: it is gone. */
  async purge(id: ObjectId): Promise<boolean> {
    const named = (await this.named([id])).size > 0;
    if (!named) await this.blobs.remove(id);
    await this.settle(id);
    return !named;
  }

  /** Those of the files that folders name, as hex. */
  async named(ids: readonly ObjectId[]): Promise<ReadonlySet<string>> {
    const found = new Set<string>();
    for (const field of FILE_FIELDS) {
      const folders = await this.database.run(() =>
        this.database.folders.find({ [field]: { $in: ids } }, { projection: { [field]: 1 } }).toArray(),
      );
      const slot = field.split('.')[0] as 'package';
      for (const folder of folders) found.add(hexOf(folder[slot]));
    }
    return found;
  }

  /** Those of the files that have a mark, as hex. */
  async marked(ids: readonly ObjectId[]): Promise<ReadonlySet<string>> {
    const marks = await this.database.run(() =>
      this.database.marks.find({ _id: { $in: [...ids] } }, { projection: { _id: 1 } }).toArray(),
    );
    return new Set(marks.map(({ _id }) => _id.toHexString()));
  }

  #all(state: MarkDoc['state']): AsyncGenerator<MarkDoc[]> {
    return paged<MarkDoc>((after, limit) => {
      const filter = after === null ? { state } : { state, _id: { $gt: after } };
      return this.database.run(() =>
        this.database.marks.find(filter).sort({ state: 1, _id: 1 }).limit(limit).toArray(),
      );
    });
  }

  async #mark(id: ObjectId, state: MarkDoc['state']): Promise<void> {
    const fresh = { $setOnInsert: { state }, $currentDate: { at: true } } as const;
    await this.database.upsert(() => this.database.marks.updateOne({ _id: id }, fresh, { upsert: true }));
  }
}

const hexOf = (kept: Kept | undefined): string => kept?.file?.toHexString() ?? '';
