/**
 * Release store in memory, for tests and for services without persistence. Answers like the one on
 * the file system.
 */
import { createHash, randomUUID } from 'node:crypto';
import { readPackage, UnsafePackage as Rejected } from '../../lib/formats/archive.js';
import { PackageTextReader } from '../../lib/formats/package-text-reader.js';
import {
  MAX_SETUP_BYTES,
  EMPTY_SWEEP_RESULT,
  PackageRejected,
  PackageTooLarge,
  type AccessFile,
  type AccessFileStore,
  type ChannelTexts,
  type ManifestTexts,
  type PackageContents,
  type PackageStore,
  type ReleaseLocation,
  type ReleaseStore,
  type StagedPackage,
  type StoredFile,
  type SweepResult,
} from '../../ports/release-store.js';

interface MemoryFile {
  bytes: Buffer;
  at: Date;
  tag: string;
}

const READ_CHUNK_BYTES = 256 * 1024;
const computeSha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const getPlaceFolder = ({ product, channel, version, platform }: ReleaseLocation): string =>
  [product, channel, version, platform].join('/');

class MemoryFileTree {
  readonly files = new Map<string, MemoryFile>();
  readonly products = new Set<string>();

  constructor(private readonly now: () => number) {}

  createFile(bytes: Buffer): MemoryFile {
    return { bytes, at: new Date(this.now()), tag: randomUUID() };
  }

  writeFile(path: string, bytes: Buffer): void {
    this.files.set(path, this.createFile(bytes));
  }
}

class MemoryPackages implements PackageStore {
  readonly #staged = new Map<string, MemoryFile>();

  constructor(private readonly tree: MemoryFileTree) {}

  async stage(bytes: AsyncIterable<Uint8Array>, limits: { bytes: number; keepFree: number }): Promise<StagedPackage> {
    const pieces: Uint8Array[] = [];
    let size = 0;
    for await (const piece of bytes) {
      size += piece.length;
      if (size > limits.bytes) throw new PackageTooLarge(`more than ${limits.bytes} bytes`);
      pieces.push(piece);
    }
    const id = randomUUID();
    const whole = this.tree.createFile(Buffer.concat(pieces));
    this.#staged.set(id, whole);
    return { id, size, sha256: computeSha256(whole.bytes) };
  }

  async listStaged(): Promise<{ id: string; modifiedAt: Date }[]> {
    return [...this.#staged].map(([id, { at }]) => ({ id, modifiedAt: at }));
  }

  async discard(id: string): Promise<void> {
    this.#staged.delete(id);
  }

  async inspect(id: string, rules: { platform: string; entry: string | null }): Promise<PackageContents> {
    const bytes = this.#getStagedBytes(id);
    const setup = new PackageTextReader('setup.json', MAX_SETUP_BYTES);
    const source = (async function* () {
      yield bytes;
    })();
    try {
      const { files, unpackedBytes } = await readPackage(source, { ...rules, onFile: setup.onFile });
      return { files, unpacked: unpackedBytes, setup: setup.text };
    } catch (error) {
      throw error instanceof Rejected ? new PackageRejected(error.entry, error.why) : error;
    }
  }

  async put(id: string, place: ReleaseLocation, texts: ManifestTexts): Promise<void> {
    const bytes = this.#getStagedBytes(id);
    this.tree.writeFile(`${getPlaceFolder(place)}/package.tar.gz`, bytes);
    this.tree.products.add(place.product);
    await this.writeTexts(place, texts);
    this.#staged.delete(id);
  }

  async link(from: ReleaseLocation, to: ReleaseLocation, texts: ManifestTexts): Promise<boolean> {
    const held = this.tree.files.get(`${getPlaceFolder(from)}/package.tar.gz`);
    if (held === undefined) return false;
    this.tree.files.set(`${getPlaceFolder(to)}/package.tar.gz`, held);
    this.tree.products.add(to.product);
    await this.writeTexts(to, texts);
    return true;
  }

  async writeTexts(place: ReleaseLocation, { manifest, signature }: ManifestTexts): Promise<void> {
    const signed = `${getPlaceFolder(place)}/manifest.sig`;
    if (signature === null) this.tree.files.delete(signed);
    else this.tree.writeFile(signed, Buffer.from(signature));
    this.tree.writeFile(`${getPlaceFolder(place)}/manifest.json`, Buffer.from(manifest));
  }

  async updateFiles(): Promise<void> {}

  async withdraw(place: ReleaseLocation): Promise<boolean> {
    const there = this.tree.files.has(`${getPlaceFolder(place)}/package.tar.gz`);
    for (const name of ['package.tar.gz', 'manifest.sig', 'manifest.json'])
      this.tree.files.delete(`${getPlaceFolder(place)}/${name}`);
    return there;
  }

  async readPackageInfo(
    place: ReleaseLocation,
  ): Promise<{ size: number; sha256: string; texts: ManifestTexts | null } | null> {
    const text = (name: string): string | null =>
      this.tree.files.get(`${getPlaceFolder(place)}/${name}`)?.bytes.toString() ?? null;
    const held = this.tree.files.get(`${getPlaceFolder(place)}/package.tar.gz`);
    if (held === undefined) return null;
    const manifest = text('manifest.json');
    const texts = manifest === null ? null : { manifest, signature: text('manifest.sig') };
    return { size: held.bytes.length, sha256: computeSha256(held.bytes), texts };
  }

  async *iterateLocations(): AsyncGenerator<ReleaseLocation> {
    const found = [...this.tree.files.keys()].map((path) => path.split('/')).filter(({ length }) => length === 5);
    for (const path of new Set(found.map((segments) => segments.slice(0, 4).join('/')))) {
      const [product = '', channel = '', version = '', platform = ''] = path.split('/');
      yield { product, channel, version, platform };
    }
  }

  async sweep(): Promise<SweepResult> {
    return EMPTY_SWEEP_RESULT;
  }

  #getStagedBytes(id: string): Buffer {
    const staged = this.#staged.get(id);
    if (staged === undefined) throw new Error(`no staged package ${id}`);
    return staged.bytes;
  }
}

class MemoryChannelTexts implements ChannelTexts {
  constructor(private readonly tree: MemoryFileTree) {}

  async write(product: string, channel: string | null, text: string): Promise<void> {
    this.tree.products.add(product);
    this.tree.writeFile(
      channel === null ? `${product}/latest.json` : `${product}/${channel}/latest.json`,
      Buffer.from(text),
    );
  }
}

class MemoryAccessFiles implements AccessFileStore {
  constructor(private readonly tree: MemoryFileTree) {}

  async listProducts(): Promise<string[]> {
    return [...this.tree.products].toSorted();
  }

  async getTag(product: string, file: AccessFile): Promise<string | null> {
    return this.tree.files.get(`${product}/${file}`)?.tag ?? null;
  }

  async read(product: string, file: AccessFile): Promise<string | null> {
    return this.tree.files.get(`${product}/${file}`)?.bytes.toString() ?? null;
  }

  async write(product: string, file: AccessFile, text: string): Promise<boolean> {
    this.tree.products.add(product);
    if ((await this.read(product, file)) === text) return false;
    this.tree.writeFile(`${product}/${file}`, Buffer.from(text));
    return true;
  }

  async remove(product: string, file: AccessFile): Promise<void> {
    this.tree.files.delete(`${product}/${file}`);
  }
}

export class MemoryReleaseStore implements ReleaseStore {
  readonly folder = null;
  readonly #tree: MemoryFileTree;
  readonly packages: MemoryPackages;
  readonly channels: MemoryChannelTexts;
  readonly access: MemoryAccessFiles;

  constructor(now: () => number = Date.now) {
    this.#tree = new MemoryFileTree(now);
    this.packages = new MemoryPackages(this.#tree);
    this.channels = new MemoryChannelTexts(this.#tree);
    this.access = new MemoryAccessFiles(this.#tree);
  }

  async open(segments: readonly string[]): Promise<StoredFile | null> {
    const storedFile = this.#tree.files.get(segments.join('/'));
    if (storedFile === undefined || segments.some((segment) => segment === '' || /^\.|\//.test(segment))) return null;
    const { bytes, at, tag } = storedFile;
    return {
      size: bytes.length,
      modifiedAt: at,
      tag,
      async *read(start, end) {
        for (let at = start; at < end; at += READ_CHUNK_BYTES)
          yield bytes.subarray(at, Math.min(end, at + READ_CHUNK_BYTES));
      },
    };
  }

  async requireFolder(): Promise<void> {}

  async probe(): Promise<void> {}

  async close(): Promise<void> {}
}
