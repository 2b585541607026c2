/**
 * The order of every change: mark, bytes, folder (the moment readers see it), then the mark is
 * removed and replaced files are marked.
 */
import {
  DiskFull,
  PackageTooLarge,
  type ManifestTexts,
  type PackageContents,
  type PackageReader,
  type PackageStore,
  type ReleaseLocation,
  type StagedPackage,
  type SweepResult,
} from '../../../ports/release-store.js';
import { CHUNK_BYTES, type GridFsBlobs } from './blobs.js';
import type { GridFsContents } from './contents.js';
import { parseStagedId, type GridFsDatabase, type FolderFile } from './database.js';
import { buildPlacePath, listReplacedFiles, type ReleaseFolders } from './folders.js';
import type { FileMarks } from './marks.js';
import type { GridFsReconciler } from './reconciler.js';
import type { FolderTexts } from './texts.js';

const SPACE_CHECK_BYTES = 32 * 1024 * 1024;
const PACKAGE_FILE = 'package.tar.gz';

export interface GridFsPackagesDependencies {
  database: GridFsDatabase;
  folders: ReleaseFolders;
  blobs: GridFsBlobs;
  marks: FileMarks;
  texts: FolderTexts;
  sweep: GridFsReconciler;
  contents: GridFsContents;
  /** Null when files of releases are not stored. */
  unpack: ((place: ReleaseLocation, signal: AbortSignal | undefined) => Promise<void>) | null;
  reader: PackageReader;
  /** Called for failed cleanups, which the reconciler repeats. */
  failed: (error: unknown) => void;
}

export class GridFsPackages implements PackageStore {
  constructor(private readonly parts: GridFsPackagesDependencies) {}

  /** What the server stored is what will be served. */
  async stage(bytes: AsyncIterable<Uint8Array>, limits: { bytes: number; keepFree: number }): Promise<StagedPackage> {
    const { blobs, marks, reader, failed } = this.parts;
    const id = await marks.createMark();
    try {
      const size = await blobs.write(id, PACKAGE_FILE, marks.renewWhile(id, this.#enforceLimits(bytes, limits)));
      const { sha256 } = await reader.hash(blobs.read({ file: id, chunk: CHUNK_BYTES }, { start: 0, end: size }));
      await marks.markStaged(id, { size, sha256 });
      return { id: id.toHexString(), size, sha256 };
    } catch (error) {
      await marks.discard(id).catch(failed);
      throw error;
    }
  }

  async listStaged(): Promise<{ id: string; modifiedAt: Date }[]> {
    const found: { id: string; modifiedAt: Date }[] = [];
    for await (const { id, ageMs } of this.parts.marks.iteratePending())
      found.push({ id: id.toHexString(), modifiedAt: new Date(Date.now() - ageMs) });
    return found;
  }

  discard(id: string): Promise<void> {
    return this.parts.marks.discard(parseStagedId(id));
  }

  async inspect(id: string, rules: { platform: string; entry: string | null }): Promise<PackageContents> {
    const { blobs, marks, reader } = this.parts;
    const file = parseStagedId(id);
    const { size } = await marks.getStaged(file);
    return reader.inspect(blobs.read({ file, chunk: CHUNK_BYTES }, { start: 0, end: size }), rules);
  }

  async put(id: string, place: ReleaseLocation, texts: ManifestTexts): Promise<void> {
    const { marks } = this.parts;
    const file = parseStagedId(id);
    const { size, sha256 } = await marks.getStaged(file);
    await this.#placePackage(place, { tag: id, size, sha256, at: new Date(), file, chunk: CHUNK_BYTES }, texts);
    await marks.removeMark(file);
  }

  async link(from: ReleaseLocation, to: ReleaseLocation, texts: ManifestTexts): Promise<boolean> {
    const held = await this.parts.folders.get(buildPlacePath(from), 'package');
    if (held === null) return false;
    await this.#placePackage(to, held, texts);
    return true;
  }

  writeTexts(place: ReleaseLocation, texts: ManifestTexts): Promise<void> {
    return this.#placePackage(place, null, texts);
  }

  async updateFiles(place: ReleaseLocation, signal?: AbortSignal): Promise<void> {
    const { contents, unpack } = this.parts;
    if (unpack === null ? !(await contents.remove(place)) : await contents.isComplete(place)) return;
    try {
      await unpack?.(place, signal);
    } finally {
      await contents.removeUnlisted(signal);
    }
  }

  async withdraw(place: ReleaseLocation): Promise<boolean> {
    const { folders, marks, failed } = this.parts;
    const path = buildPlacePath(place);
    const files = listReplacedFiles(await folders.getFolder(path), { package: null, manifest: null, signature: null });
    // Marked before the folder is removed, so that a crash leaves no readable withdrawn data.
    await marks.markForRemoval(files);
    const before = await folders.remove(path);
    try {
      for (const file of files) await marks.purge(file);
    } catch (error) {
      // It is no longer served; the next sweep removes the bytes.
      failed(error);
    }
    return before?.package !== undefined;
  }

  async readPackageInfo(
    place: ReleaseLocation,
  ): Promise<{ size: number; sha256: string; texts: ManifestTexts | null } | null> {
    const { folders, blobs, texts, reader } = this.parts;
    const folder = await folders.getFolder(buildPlacePath(place));
    if (folder?.package === undefined) return null;
    const { size, sha256 } = await reader.hash(blobs.read(folder.package, { start: 0, end: folder.package.size }));
    const [manifest, signature] = await Promise.all([texts.read(folder.manifest), texts.read(folder.signature)]);
    return { size, sha256, texts: manifest === null ? null : { manifest, signature } };
  }

  async *iterateLocations(): AsyncGenerator<ReleaseLocation> {
    for await (const { _id } of this.parts.folders.iterateFolders('place')) {
      const [product = '', channel = '', version = '', platform = ''] = _id.split('/');
      yield { product, channel, version, platform };
    }
  }

  sweep(signal?: AbortSignal): Promise<SweepResult> {
    return this.parts.sweep.run(signal);
  }

  /**
   * One write: readers see either the old package and texts or the new ones.
   * @param held null leaves the package unchanged
   */
  async #placePackage(
    place: ReleaseLocation,
    held: FolderFile | null,
    { manifest, signature }: ManifestTexts,
  ): Promise<void> {
    const { folders, marks, texts } = this.parts;
    const described = await texts.save(manifest);
    const signed = signature === null ? null : await texts.save(signature);
    const files = {
      ...(held === null ? {} : { package: held }),
      manifest: described.kept,
      signature: signed?.kept ?? null,
    };
    const path = buildPlacePath(place);
    await folders.createProduct(place.product);
    const before = await folders.set(path, 'place', files);
    await described.settle();
    await signed?.settle();
    await marks.retire(listReplacedFiles(before, files));
  }

  async *#enforceLimits(
    bytes: AsyncIterable<Uint8Array>,
    { bytes: most, keepFree }: { bytes: number; keepFree: number },
  ): AsyncGenerator<Uint8Array> {
    let size = 0;
    let lastCheckedSize = 0;
    await this.checkFreeSpace(keepFree);
    for await (const piece of bytes) {
      size += piece.length;
      if (size > most) throw new PackageTooLarge(`more than ${most} bytes`);
      yield piece;
      if (size - lastCheckedSize < SPACE_CHECK_BYTES) continue;
      lastCheckedSize = size;
      await this.checkFreeSpace(keepFree);
    }
  }

  /** @throws DiskFull */
  async checkFreeSpace(keepFree: number): Promise<void> {
    const free = keepFree > 0 ? await this.parts.database.getFreeBytes() : null;
    if (free !== null && free < keepFree) throw new DiskFull(`fewer than ${keepFree} bytes are free at MongoDB`);
  }
}
