import { ObjectId } from 'mongodb';
import { FILE_FIELDS, iteratePages, type GridFsDatabase, type FolderFile, type MarkDoc } from './database.js';
import type { GridFsBlobs } from './blobs.js';

const RENEW_INTERVAL_MS = 60_000;

export class FileMarks {
  constructor(
    private readonly database: GridFsDatabase,
    private readonly blobs: GridFsBlobs,
  ) {}

  async createMark(): Promise<ObjectId> {
    const id = new ObjectId();
    await this.#setState(id, 'incoming');
    return id;
  }

  /** @throws Error when another process has given up the upload */
  async *renewWhile(id: ObjectId, bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    let renewedAt = performance.now();
    for await (const piece of bytes) {
      if (performance.now() - renewedAt > RENEW_INTERVAL_MS) {
        renewedAt = performance.now();
        const { matchedCount } = await this.database.write(() =>
          this.database.marks.updateOne({ _id: id, state: 'incoming' }, { $currentDate: { at: true } }),
        );
        if (matchedCount === 0) throw new Error('the upload was idle for too long and was abandoned');
      }
      yield piece;
    }
  }

  /**
   * Marks the upload as complete.
   * @throws Error when another process has given up the upload
   */
  async markStaged(id: ObjectId, { size, sha256 }: { size: number; sha256: string }): Promise<void> {
    const whole = { $set: { state: 'staged', size, sha256 }, $currentDate: { at: true } } as const;
    const { matchedCount } = await this.database.write(() =>
      this.database.marks.updateOne({ _id: id, state: 'incoming' }, whole),
    );
    if (matchedCount === 0) throw new Error('the upload was idle for too long and was abandoned');
  }

  /** @throws Error when nothing is staged under the id */
  async getStaged(id: ObjectId): Promise<{ size: number; sha256: string }> {
    const mark = await this.database.run(() => this.database.marks.findOne({ _id: id, state: 'staged' }));
    if (mark?.size === undefined || mark.sha256 === undefined) throw new Error(`no staged package ${id.toHexString()}`);
    return { size: mark.size, sha256: mark.sha256 };
  }

  async *iteratePending(): AsyncGenerator<{ id: ObjectId; ageMs: number }> {
    const now = await this.database.getServerTime();
    for (const state of ['incoming', 'staged'] as const)
      for await (const marks of this.#iterateMarks(state))
        for (const { _id: id, at } of marks) yield { id, ageMs: now - +at };
  }

  async *iterateRetired(ms: number): AsyncGenerator<ObjectId> {
    const now = await this.database.getServerTime();
    for await (const marks of this.#iterateMarks('retired'))
      for (const { _id: id, at } of marks) if (now - +at >= ms) yield id;
  }

  async removeMark(id: ObjectId): Promise<void> {
    await this.database.write(() => this.database.marks.deleteOne({ _id: id }));
  }

  /** Running downloads may continue for a while. */
  async retire(files: readonly (ObjectId | undefined)[]): Promise<void> {
    for (const file of files) if (file !== undefined) await this.#setState(file, 'retired');
  }

  /** Marks files for removal by the next sweep, even if they are being downloaded. */
  async markForRemoval(files: readonly ObjectId[]): Promise<void> {
    const set = { $set: { state: 'retired', at: new Date(0) } } as const;
    for (const file of files)
      await this.database.upsert(() => this.database.marks.updateOne({ _id: file }, set, { upsert: true }));
  }

  /** Unless a folder already references it. */
  async discard(id: ObjectId): Promise<void> {
    const waiting = { _id: id, state: { $in: ['incoming', 'staged'] as const } } as never;
    const { matchedCount } = await this.database.write(() =>
      this.database.marks.updateOne(waiting, { $set: { state: 'retired' } }),
    );
    if (matchedCount > 0) await this.purge(id);
  }

  /**
   * Removes a retired file unless a folder references it.
   * @returns whether it was removed
   */
  async purge(id: ObjectId): Promise<boolean> {
    const named = (await this.filterReferenced([id])).size > 0;
    if (!named) await this.blobs.remove(id);
    await this.removeMark(id);
    return !named;
  }

  async filterReferenced(ids: readonly ObjectId[]): Promise<ReadonlySet<string>> {
    const found = new Set<string>();
    for (const field of FILE_FIELDS) {
      const folders = await this.database.run(() =>
        this.database.folders.find({ [field]: { $in: ids } }, { projection: { [field]: 1 } }).toArray(),
      );
      const slot = field.split('.')[0] as 'package';
      for (const folder of folders) found.add(toHexId(folder[slot]));
    }
    const contents = await this.database.run(() =>
      this.database.contents.find({ file: { $in: [...ids] } }, { projection: { file: 1 } }).toArray(),
    );
    for (const { file } of contents) found.add(file.toHexString());
    return found;
  }

  async filterMarked(ids: readonly ObjectId[]): Promise<ReadonlySet<string>> {
    const marks = await this.database.run(() =>
      this.database.marks.find({ _id: { $in: [...ids] } }, { projection: { _id: 1 } }).toArray(),
    );
    return new Set(marks.map(({ _id }) => _id.toHexString()));
  }

  #iterateMarks(state: MarkDoc['state']): AsyncGenerator<MarkDoc[]> {
    return iteratePages<MarkDoc>((after, limit) => {
      const filter = after === null ? { state } : { state, _id: { $gt: after } };
      return this.database.run(() =>
        this.database.marks.find(filter).sort({ state: 1, _id: 1 }).limit(limit).toArray(),
      );
    });
  }

  async #setState(id: ObjectId, state: MarkDoc['state']): Promise<void> {
    const fresh = { $setOnInsert: { state }, $currentDate: { at: true } } as const;
    await this.database.upsert(() => this.database.marks.updateOne({ _id: id }, fresh, { upsert: true }));
  }
}

const toHexId = (folderFile: FolderFile | undefined): string => folderFile?.file?.toHexString() ?? '';
