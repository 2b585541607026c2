/**
 * Files of releases by hash (contract 97, files of a release): one GridFS file per content, named
 * by its SHA-256. The folder of a release names them by an id, and each content lists the ids of
 * the releases that have it; an id without a folder counts as removed.
 */
import { ObjectId } from 'mongodb';
import { unpackMissingFiles, type FilePool, type ListedFile } from '../../../lib/formats/packaged-file.js';
import type { ReleaseLocation } from '../../../ports/release-store.js';
import { CHUNK_BYTES, GridFsBlobs } from './blobs.js';
import type { ContentDoc, FolderContents, FolderDoc, GridFsDatabase } from './database.js';
import { buildPlacePath, ReleaseFolders } from './folders.js';
import { FileMarks } from './marks.js';
import { FolderTexts } from './texts.js';

const BATCH_FILES = 500;
/** For documents. */
const MIN_FREE_BYTES = 512 * 1024 * 1024;

export class GridFsContents {
  readonly #folders: ReleaseFolders;
  readonly #blobs: GridFsBlobs;
  readonly #marks: FileMarks;

  constructor(private readonly database: GridFsDatabase) {
    this.#folders = new ReleaseFolders(database);
    this.#blobs = new GridFsBlobs(database);
    this.#marks = new FileMarks(database, this.#blobs);
  }

  /** Returns null when the release does not list it, or it is not stored yet. */
  async find(path: string, sha256: string): Promise<ContentDoc | null> {
    const projection = { files: 1, 'package.tag': 1 };
    const folder = await this.database.run(() => this.database.folders.findOne({ _id: path }, { projection }));
    if (folder === null || !hasCurrentFiles(folder)) return null;
    const filter = { _id: sha256, releases: folder.files.id };
    return this.database.run(() => this.database.contents.findOne(filter, { projection: { releases: 0 } }));
  }

  /** Whether the files of an existing release are stored. */
  async isComplete(place: ReleaseLocation): Promise<boolean> {
    const projection = { files: 1, 'package.tag': 1 };
    const folder = await this.database.run(() =>
      this.database.folders.findOne({ _id: buildPlacePath(place) }, { projection }),
    );
    return folder !== null && isComplete(folder);
  }

  /** @returns whether the release had files */
  async remove(place: ReleaseLocation): Promise<boolean> {
    const filter = { _id: buildPlacePath(place), files: { $exists: true } };
    const { matchedCount } = await this.database.write(() =>
      this.database.folders.updateOne(filter, { $unset: { files: '' } }),
    );
    return matchedCount > 0;
  }

  /**
   * Stores the files of a release that are missing.
   * @throws with code ENOSPC when they do not fit, errors of the package
   */
  async unpack(place: ReleaseLocation): Promise<void> {
    const path = buildPlacePath(place);
    const folder = await this.#folders.getFolder(path);
    if (folder?.package === undefined || isComplete(folder)) return;
    const { package: stored, manifest: text } = folder;
    const filter = { _id: path, 'package.tag': stored.tag };
    // Interrupted work continues under its id.
    const started = hasCurrentFiles(folder) ? folder.files : null;
    const files = started ?? { id: new ObjectId(), tag: stored.tag, complete: false };
    // Before the first content has the id, so that the reconciler does not remove it.
    if (started === null) await this.database.write(() => this.database.folders.updateOne(filter, { $set: { files } }));
    const manifest = await new FolderTexts(this.#blobs, this.#marks).read(text);
    if (manifest === null) return;
    const open = (): AsyncIterable<Uint8Array> => this.#blobs.read(stored, { start: 0, end: stored.size });
    const { platform } = place;
    await unpackMissingFiles(manifest, { platform, open }, this.#createPool(files.id));
    await this.database.write(() =>
      this.database.folders.updateOne({ ...filter, 'files.id': files.id }, { $set: { 'files.complete': true } }),
    );
  }

  /**
   * Removes contents that no release has.
   * @returns their number
   */
  async removeUnlisted(signal?: AbortSignal): Promise<number> {
    // Read first: a folder has the id before the first content.
    const ids = await this.database.run(() => this.database.contents.distinct('releases'));
    const existing = new Set<string>();
    if (ids.length > 0)
      for await (const folder of this.#folders.iterateFolders('place'))
        if (hasCurrentFiles(folder)) existing.add(folder.files.id.toHexString());
    for (const id of ids) if (!existing.has(id.toHexString())) await this.#removeRelease(id, signal);
    return this.#removeUnused(signal);
  }

  async #removeRelease(id: ObjectId, signal: AbortSignal | undefined): Promise<void> {
    for (;;) {
      if (signal?.aborted === true) return;
      const options = { projection: { _id: 1 }, limit: BATCH_FILES } as const;
      const found = await this.database.run(() => this.database.contents.find({ releases: id }, options).toArray());
      if (found.length === 0) return;
      const filter = { _id: { $in: found.map(({ _id }) => _id) } };
      await this.database.write(() => this.database.contents.updateMany(filter, { $pull: { releases: id } }));
    }
  }

  async #removeUnused(signal: AbortSignal | undefined): Promise<number> {
    let removed = 0;
    for (;;) {
      const options = { projection: { _id: 1 }, limit: BATCH_FILES } as const;
      const found = await this.database.run(() => this.database.contents.find({ releases: [] }, options).toArray());
      for (const { _id } of found) {
        if (signal?.aborted === true) return removed;
        // A release may have taken it meanwhile.
        const content = await this.database.write(() =>
          this.database.contents.findOneAndDelete({ _id, releases: [] }, { projection: { file: 1 } }),
        );
        if (content === null) continue;
        await this.#blobs.remove(content.file);
        removed++;
      }
      if (found.length < BATCH_FILES) return removed;
    }
  }

  #createPool(release: ObjectId): FilePool {
    return {
      filterMissing: async (files) => {
        const missing: ListedFile[] = [];
        for (let at = 0; at < files.length; at += BATCH_FILES)
          missing.push(...(await this.#addRelease(files.slice(at, at + BATCH_FILES), release)));
        return missing;
      },
      requireSpace: async (bytes) => {
        const free = await this.database.getFreeBytes();
        if (free !== null && free < bytes + MIN_FREE_BYTES)
          throw Object.assign(new Error('too little space to unpack a release'), { code: 'ENOSPC' });
      },
      write: (file, content) => this.#write(file, content, release),
    };
  }

  /** Returns the files that are not stored. */
  async #addRelease(files: readonly ListedFile[], release: ObjectId): Promise<ListedFile[]> {
    const filter = { _id: { $in: files.map(({ sha256 }) => sha256) } };
    await this.database.write(() => this.database.contents.updateMany(filter, { $addToSet: { releases: release } }));
    const found = await this.database.run(() =>
      this.database.contents.find({ ...filter, releases: release }, { projection: { _id: 1 } }).toArray(),
    );
    const stored = new Set(found.map(({ _id }) => _id));
    return files.filter(({ sha256 }) => !stored.has(sha256));
  }

  async #write({ sha256, size }: ListedFile, content: AsyncIterable<Uint8Array>, release: ObjectId): Promise<void> {
    const file = await this.#marks.createMark();
    try {
      await this.#blobs.write(file, sha256, this.#marks.renewWhile(file, content));
      const fresh = { file, size, chunk: CHUNK_BYTES, at: new Date() };
      const update = { $setOnInsert: fresh, $addToSet: { releases: release } };
      const options = { upsert: true, returnDocument: 'after', projection: { file: 1 } } as const;
      const stored = await this.database.upsert(() =>
        this.database.contents.findOneAndUpdate({ _id: sha256 }, update, options),
      );
      if (stored?.file.equals(file) === true) await this.#marks.removeMark(file);
      // Another release has stored it meanwhile.
      else await this.#marks.discard(file);
    } catch (error) {
      // Else the reconciler discards it.
      await this.#marks.discard(file).catch(() => undefined);
      throw error;
    }
  }
}

/** Those of a replaced package do not count. */
const hasCurrentFiles = (folder: FolderDoc): folder is FolderDoc & { files: FolderContents } =>
  folder.files !== undefined && folder.files.tag === folder.package?.tag;

const isComplete = (folder: FolderDoc): boolean => hasCurrentFiles(folder) && folder.files.complete;
