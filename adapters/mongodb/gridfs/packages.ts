/**
 * Packages in GridFS. The order of every change: mark, bytes, folder (the moment readers see it),
 * then the mark is removed and replaced files are marked. Everything that a crash leaves behind is
 * marked.
 */
import {
  DiskFull,
  PackageTooLarge,
  type ManifestTexts,
  type PackageContents,
  type PackageReader,
  type PackageStore,
  type ReleasePlace,
  type StagedPackage,
  type Swept,
} from '../../../ports/release-store.js';
import { CHUNK_BYTES, type Blobs } from './blobs.js';
import { idOf, type GridFsDatabase, type Kept } from './database.js';
import { placePath, replacedIn, type Folders } from './folders.js';
import type { FileMarks } from './marks.js';
import type { Sweep } from './sweep.js';
import type { FolderTexts } from './texts.js';

const ASK_BYTES = 32 * 1024 * 1024;
const FILE = 'package.tar.gz';

export interface PackageParts {
  database: GridFsDatabase;
  folders: Folders;
  blobs: Blobs;
  marks: FileMarks;
  texts: FolderTexts;
  sweep: Sweep;
  reader: PackageReader;
  /** Called for failed cleanups, which the reconciler repeats. */
  failed: (error: unknown) => void;
}

export class GridFsPackages implements PackageStore {
  constructor(private readonly parts: PackageParts) {}

  /** Hashes what the server stored, which is what will be served. */
  async stage(bytes: AsyncIterable<Uint8Array>, limits: { bytes: number; keepFree: number }): Promise<StagedPackage> {
    const { blobs, marks, reader, failed } = this.parts;
    const id = await marks.begin();
    try {
      const size = await blobs.write(id, FILE, marks.renewing(id, this.#judged(bytes, limits)));
      const { sha256 } = await reader.hash(blobs.read({ file: id, chunk: CHUNK_BYTES }, { start: 0, end: size }));
      await marks.staged(id, { size, sha256 });
      return { id: id.toHexString(), size, sha256 };
    } catch (error) {
      await marks.discard(id).catch(failed);
      throw error;
    }
  }

  async staged(): Promise<{ id: string; modifiedAt: Date }[]> {
    const found: { id: string; modifiedAt: Date }[] = [];
    for await (const { id, ageMs } of this.parts.marks.waiting())
      found.push({ id: id.toHexString(), modifiedAt: new Date(Date.now() - ageMs) });
    return found;
  }

  discard(id: string): Promise<void> {
    return this.parts.marks.discard(idOf(id));
  }

  async inspect(id: string, rules: { platform: string; entry: string | null }): Promise<PackageContents> {
    const { blobs, marks, reader } = this.parts;
    const file = idOf(id);
    const { size } = await marks.whole(file);
    return reader.inspect(blobs.read({ file, chunk: CHUNK_BYTES }, { start: 0, end: size }), rules);
  }

  async put(id: string, place: ReleasePlace, texts: ManifestTexts): Promise<void> {
    const { marks } = this.parts;
    const file = idOf(id);
    const { size, sha256 } = await marks.whole(file);
    await this.#place(place, { tag: id, size, sha256, at: new Date(), file, chunk: CHUNK_BYTES }, texts);
    await marks.settle(file);
  }

  async link(from: ReleasePlace, to: ReleasePlace, texts: ManifestTexts): Promise<boolean> {
    const held = await this.parts.folders.get(placePath(from), 'package');
    if (held === null) return false;
    await this.#place(to, held, texts);
    return true;
  }

  describe(place: ReleasePlace, texts: ManifestTexts): Promise<void> {
    return this.#place(place, null, texts);
  }

  async withdraw(place: ReleasePlace): Promise<boolean> {
    const { folders, marks, failed } = this.parts;
    const path = placePath(place);
    const files = replacedIn(await folders.folder(path), { package: null, manifest: null, signature: null });
    // Marked before the folder is removed, so that a crash leaves no readable withdrawn data.
    await marks.condemn(files);
    const before = await folders.remove(path);
    try {
      for (const file of files) await marks.purge(file);
    } catch (error) {
      // It is no longer served; the next sweep removes the bytes.
      failed(error);
    }
    return before?.package !== undefined;
  }

  async held(place: ReleasePlace): Promise<{ size: number; sha256: string; texts: ManifestTexts | null } | null> {
    const { folders, blobs, texts, reader } = this.parts;
    const folder = await folders.folder(placePath(place));
    if (folder?.package === undefined) return null;
    const { size, sha256 } = await reader.hash(blobs.read(folder.package, { start: 0, end: folder.package.size }));
    const [manifest, signature] = await Promise.all([texts.read(folder.manifest), texts.read(folder.signature)]);
    return { size, sha256, texts: manifest === null ? null : { manifest, signature } };
  }

  async *places(): AsyncGenerator<ReleasePlace> {
    for await (const { _id } of this.parts.folders.all('place')) {
      const [product = '', channel = '', version = '', platform = ''] = _id.split('/');
      yield { product, channel, version, platform };
    }
  }

  sweep(signal?: AbortSignal): Promise<Swept> {
    return this.parts.sweep.run(signal);
  }

  /**
   * One write: readers see either the old package and texts or the new ones.
   * @param held null leaves the package unchanged
   */
  async #place(place: ReleasePlace, held: Kept | null, { manifest, signature }: ManifestTexts): Promise<void> {
    const { folders, marks, texts } = this.parts;
    const described = await texts.keep(manifest);
    const signed = signature === null ? null : await texts.keep(signature);
    const files = {
      ...(held === null ? {} : { package: held }),
      manifest: described.kept,
      signature: signed?.kept ?? null,
    };
    const path = placePath(place);
    await folders.product(place.product);
    const before = await folders.set(path, 'place', files);
    await described.settle();
    await signed?.settle();
    await marks.retire(replacedIn(before, files));
  }

  async *#judged(
    bytes: AsyncIterable<Uint8Array>,
    { bytes: most, keepFree }: { bytes: number; keepFree: number },
  ): AsyncGenerator<Uint8Array> {
    let size = 0;
    let asked = 0;
    await this.judge(keepFree);
    for await (const piece of bytes) {
      size += piece.length;
      if (size > most) throw new PackageTooLarge(`more than ${most} bytes`);
      yield piece;
      if (size - asked < ASK_BYTES) continue;
      asked = size;
      await this.judge(keepFree);
    }
  }

  /** @throws DiskFull */
  async judge(keepFree: number): Promise<void> {
    const free = keepFree > 0 ? await this.parts.database.freeBytes() : null;
    if (free !== null && free < keepFree) throw new DiskFull(`less than ${keepFree} bytes are free at MongoDB`);
  }
}
