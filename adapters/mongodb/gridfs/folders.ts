/**
 * Folders of the release store, one document each, so that one write becomes visible atomically.
 */
import type { ObjectId } from 'mongodb';
import type { ReleaseLocation } from '../../../ports/release-store.js';
import {
  iteratePages,
  FILE_SLOTS,
  type FolderDoc,
  type GridFsDatabase,
  type FolderFile,
  type FileSlot,
} from './database.js';

/** Excludes `.`, `..` and `.htaccess`, and limits the length to that of file systems. */
const NAME_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,254}$/;

export const isValidName = (name: string): boolean => NAME_PATTERN.test(name);

/** @throws TypeError for an invalid name, which the caller must have checked */
export function buildFolderPath(...names: readonly string[]): string {
  if (!names.every(isValidName))
    throw new TypeError('a name in the release store may contain only letters, digits, `.`, `_` and `-`');
  return names.join('/');
}

export const buildPlacePath = ({ product, channel, version, platform }: ReleaseLocation): string =>
  buildFolderPath(product, channel, version, platform);

/** Fields read before the content, because a text may have a megabyte. */
const METADATA_FIELDS = ['tag', 'size', 'at', 'file', 'chunk'] as const;

export class ReleaseFolders {
  constructor(private readonly database: GridFsDatabase) {}

  async getMetadata(path: string, slot: FileSlot): Promise<FolderFile | null> {
    const projection = Object.fromEntries(METADATA_FIELDS.map((fact) => [`${slot}.${fact}`, 1]));
    const folder = await this.database.run(() => this.database.folders.findOne({ _id: path }, { projection }));
    return folder?.[slot] ?? null;
  }

  /** @param tag when given, null is returned if the file was replaced */
  async get(path: string, slot: FileSlot, tag?: string): Promise<FolderFile | null> {
    const filter = { _id: path, ...(tag === undefined ? {} : { [`${slot}.tag`]: tag }) };
    const folder = await this.database.run(() => this.database.folders.findOne(filter, { projection: { [slot]: 1 } }));
    return folder?.[slot] ?? null;
  }

  async hasFile(path: string, slot: FileSlot, tag: string): Promise<boolean> {
    const filter = { _id: path, [`${slot}.tag`]: tag };
    const projection = { _id: 1 };
    return (await this.database.run(() => this.database.folders.findOne(filter, { projection }))) !== null;
  }

  getFolder(path: string): Promise<FolderDoc | null> {
    return this.database.run(() => this.database.folders.findOne({ _id: path }));
  }

  async createProduct(name: string): Promise<void> {
    const kind = { $set: { kind: 'product' } } as const;
    await this.database.upsert(() =>
      this.database.folders.updateOne({ _id: buildFolderPath(name) }, kind, { upsert: true }),
    );
  }

  /**
   * Sets files of a folder and creates it if needed.
   * @param files null removes a file; absent leaves it
   * @returns the previous folder
   */
  set(
    path: string,
    kind: FolderDoc['kind'],
    files: Partial<Record<FileSlot, FolderFile | null>>,
  ): Promise<FolderDoc | null> {
    const put = Object.entries(files).filter(([, addedFile]) => addedFile !== null);
    const gone = Object.entries(files).filter(([, removedFile]) => removedFile === null);
    const update = {
      $set: { kind, ...Object.fromEntries(put) },
      ...(gone.length > 0 && { $unset: Object.fromEntries(gone.map(([slot]) => [slot, ''])) }),
    } as { $set: Partial<FolderDoc> };
    return this.database.upsert(() =>
      this.database.folders.findOneAndUpdate({ _id: path }, update, { upsert: true, returnDocument: 'before' }),
    );
  }

  remove(path: string): Promise<FolderDoc | null> {
    return this.database.write(() => this.database.folders.findOneAndDelete({ _id: path }));
  }

  async *iterateFolders(kind: FolderDoc['kind']): AsyncGenerator<FolderDoc> {
    const projection = Object.fromEntries([
      ['kind', 1],
      ['files', 1],
      ...FILE_SLOTS.flatMap((slot) => METADATA_FIELDS.map((fact) => [`${slot}.${fact}`, 1])),
    ]);
    const find = (after: string | null, limit: number): Promise<FolderDoc[]> => {
      const filter = after === null ? { kind } : { kind, _id: { $gt: after } };
      const sort = { kind: 1, _id: 1 } as const;
      return this.database.run(() => this.database.folders.find(filter, { projection, sort, limit }).toArray());
    };
    for await (const page of iteratePages(find)) yield* page;
  }
}

export function listReplacedFiles(
  before: FolderDoc | null,
  files: Partial<Record<FileSlot, FolderFile | null>>,
): ObjectId[] {
  return (Object.keys(files) as FileSlot[]).flatMap((slot) => {
    const file = before?.[slot]?.file;
    return file === undefined || files[slot]?.file?.equals(file) ? [] : [file];
  });
}
