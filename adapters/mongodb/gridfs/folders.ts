/** The folders of the store, each one document: what one write puts there, readers see at once or not at all. */
import type { ObjectId } from 'mongodb';
import type { ReleasePlace } from '../../../ports/release-store.js';
import { paged, SLOTS, type FolderDoc, type GridFsDatabase, type Kept, type Slot } from './database.js';

/** Begins with a letter or digit: no `.`, `..`, `.htaccess`; no longer than what file systems take. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,254}$/;

export const isName = (name: string): boolean => NAME.test(name);

/** @throws TypeError for what is no name: the caller has checked it before */
export function pathOf(...names: readonly string[]): string {
  if (!names.every(isName))
    throw new TypeError('a name of the release store has letters, digits, `.`, `_` and `-` alone');
  return names.join('/');
}

export const placePath = ({ product, channel, version, platform }: ReleasePlace): string =>
  pathOf(product, channel, version, platform);

/** What is asked of a file before it is read: a text itself may have a megabyte. */
const FACTS = ['tag', 'size', 'at', 'file', 'chunk'] as const;

export class Folders {
  constructor(private readonly database: GridFsDatabase) {}

  /** What is known of a file, without its text; null: it is not there. */
  async look(path: string, slot: Slot): Promise<Kept | null> {
    const projection = Object.fromEntries(FACTS.map((fact) => [`${slot}.${fact}`, 1]));
    const folder = await this.database.run(() => this.database.folders.findOne({ _id: path }, { projection }));
    return folder?.[slot] ?? null;
  }

  /** One file as it lies there now, with its text. @param tag given: null when it is another by now */
  async get(path: string, slot: Slot, tag?: string): Promise<Kept | null> {
    const filter = { _id: path, ...(tag === undefined ? {} : { [`${slot}.tag`]: tag }) };
    const folder = await this.database.run(() => this.database.folders.findOne(filter, { projection: { [slot]: 1 } }));
    return folder?.[slot] ?? null;
  }

  /** Whether the file is still this one. */
  async holds(path: string, slot: Slot, tag: string): Promise<boolean> {
    const filter = { _id: path, [`${slot}.tag`]: tag };
    const projection = { _id: 1 };
    return (await this.database.run(() => this.database.folders.findOne(filter, { projection }))) !== null;
  }

  folder(path: string): Promise<FolderDoc | null> {
    return this.database.run(() => this.database.folders.findOne({ _id: path }));
  }

  /** Makes a product's folder. */
  async product(name: string): Promise<void> {
    const kind = { $set: { kind: 'product' } } as const;
    await this.database.upsert(() => this.database.folders.updateOne({ _id: pathOf(name) }, kind, { upsert: true }));
  }

  /**
   * Puts files into a folder, and makes it. Answers what was there before.
   * @param files null: it goes; absent: it stays
   */
  set(path: string, kind: FolderDoc['kind'], files: Partial<Record<Slot, Kept | null>>): Promise<FolderDoc | null> {
    const put = Object.entries(files).filter(([, kept]) => kept !== null);
    const gone = Object.entries(files).filter(([, kept]) => kept === null);
    const update = {
      $set: { kind, ...Object.fromEntries(put) },
      ...(gone.length > 0 && { $unset: Object.fromEntries(gone.map(([slot]) => [slot, ''])) }),
    } as { $set: Partial<FolderDoc> };
    return this.database.upsert(() =>
      this.database.folders.findOneAndUpdate({ _id: path }, update, { upsert: true, returnDocument: 'before' }),
    );
  }

  /** Answers what was there. */
  remove(path: string): Promise<FolderDoc | null> {
    return this.database.write(() => this.database.folders.findOneAndDelete({ _id: path }));
  }

  /** Those of a kind, by path, without their texts. */
  async *all(kind: FolderDoc['kind']): AsyncGenerator<FolderDoc> {
    const projection = Object.fromEntries([
      ['kind', 1],
      ...SLOTS.flatMap((slot) => FACTS.map((fact) => [`${slot}.${fact}`, 1])),
    ]);
    const find = (after: string | null, limit: number): Promise<FolderDoc[]> => {
      const filter = after === null ? { kind } : { kind, _id: { $gt: after } };
      const sort = { kind: 1, _id: 1 } as const;
      return this.database.run(() => this.database.folders.find(filter, { projection, sort, limit }).toArray());
    };
    for await (const page of paged(find)) yield* page;
  }
}

/** Its files that are in GridFS, of those that another write has taken the place of. */
export function replacedIn(before: FolderDoc | null, files: Partial<Record<Slot, Kept | null>>): ObjectId[] {
  return (Object.keys(files) as Slot[]).flatMap((slot) => {
    const file = before?.[slot]?.file;
    return file === undefined || files[slot]?.file?.equals(file) ? [] : [file];
  });
}
