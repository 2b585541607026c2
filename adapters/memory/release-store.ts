/**
 * Release store in memory, for tests and for services without persistence. Answers like the one on
 * the file system.
 */
import { createHash, randomUUID } from 'node:crypto';
import { readPackage, UnsafePackage as Rejected } from '../../lib/formats/archive.js';
import { PackageTextReader } from '../../lib/formats/kept-text.js';
import {
  MAX_SETUP_BYTES,
  NOTHING_SWEPT,
  PackageRejected,
  PackageTooLarge,
  type AccessFile,
  type AccessFileStore,
  type ChannelTexts,
  type ManifestTexts,
  type PackageContents,
  type PackageStore,
  type ReleasePlace,
  type ReleaseStore,
  type StagedPackage,
  type StoredFile,
  type Swept,
} from '../../ports/release-store.js';

interface Kept {
  bytes: Buffer;
  at: Date;
  tag: string;
}

const PIECE = 256 * 1024;
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const folder = ({ product, channel, version, platform }: ReleasePlace): string =>
  [product, channel, version, platform].join('/');

class Tree {
  readonly files = new Map<string, Kept>();
  readonly products = new Set<string>();

  constructor(private readonly now: () => number) {}

  kept(bytes: Buffer): Kept {
    return { bytes, at: new Date(this.now()), tag: randomUUID() };
  }

  keep(path: string, bytes: Buffer): void {
    this.files.set(path, this.kept(bytes));
  }
}

class MemoryPackages implements PackageStore {
  readonly #staged = new Map<string, Kept>();

  constructor(private readonly tree: Tree) {}

  async stage(bytes: AsyncIterable<Uint8Array>, limits: { bytes: number; keepFree: number }): Promise<StagedPackage> {
    const pieces: Uint8Array[] = [];
    let size = 0;
    for await (const piece of bytes) {
      size += piece.length;
      if (size > limits.bytes) throw new PackageTooLarge(`more than ${limits.bytes} bytes`);
      pieces.push(piece);
    }
    const id = randomUUID();
    const whole = this.tree.kept(Buffer.concat(pieces));
    this.#staged.set(id, whole);
    return { id, size, sha256: sha256(whole.bytes) };
  }

  async staged(): Promise<{ id: string; modifiedAt: Date }[]> {
    return [...this.#staged].map(([id, { at }]) => ({ id, modifiedAt: at }));
  }

  async discard(id: string): Promise<void> {
    this.#staged.delete(id);
  }

  async inspect(id: string, rules: { platform: string; entry: string | null }): Promise<PackageContents> {
    const bytes = this.#stagedBytes(id);
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

  async put(id: string, place: ReleasePlace, texts: ManifestTexts): Promise<void> {
    const bytes = this.#stagedBytes(id);
    this.tree.keep(`${folder(place)}/package.tar.gz`, bytes);
    this.tree.products.add(place.product);
    await this.describe(place, texts);
    this.#staged.delete(id);
  }

  async link(from: ReleasePlace, to: ReleasePlace, texts: ManifestTexts): Promise<boolean> {
    const held = this.tree.files.get(`${folder(from)}/package.tar.gz`);
    if (held === undefined) return false;
    this.tree.files.set(`${folder(to)}/package.tar.gz`, held);
    this.tree.products.add(to.product);
    await this.describe(to, texts);
    return true;
  }

  async describe(place: ReleasePlace, { manifest, signature }: ManifestTexts): Promise<void> {
    const signed = `${folder(place)}/manifest.sig`;
    if (signature === null) this.tree.files.delete(signed);
    else this.tree.keep(signed, Buffer.from(signature));
    this.tree.keep(`${folder(place)}/manifest.json`, Buffer.from(manifest));
  }

  async withdraw(place: ReleasePlace): Promise<boolean> {
    const there = this.tree.files.has(`${folder(place)}/package.tar.gz`);
    for (const name of ['package.tar.gz', 'manifest.sig', 'manifest.json'])
      this.tree.files.delete(`${folder(place)}/${name}`);
    return there;
  }

  async held(place: ReleasePlace): Promise<{ size: number; sha256: string; texts: ManifestTexts | null } | null> {
    const text = (name: string): string | null =>
      this.tree.files.get(`${folder(place)}/${name}`)?.bytes.toString() ?? null;
    const held = this.tree.files.get(`${folder(place)}/package.tar.gz`);
    if (held === undefined) return null;
    const manifest = text('manifest.json');
    const texts = manifest === null ? null : { manifest, signature: text('manifest.sig') };
    return { size: held.bytes.length, sha256: sha256(held.bytes), texts };
  }

  async *places(): AsyncGenerator<ReleasePlace> {
    const found = [...this.tree.files.keys()].map((path) => path.split('/')).filter(({ length }) => length === 5);
    for (const path of new Set(found.map((segments) => segments.slice(0, 4).join('/')))) {
      const [product = '', channel = '', version = '', platform = ''] = path.split('/');
      yield { product, channel, version, platform };
    }
  }

  async sweep(): Promise<Swept> {
    return NOTHING_SWEPT;
  }

  #stagedBytes(id: string): Buffer {
    const staged = this.#staged.get(id);
    if (staged === undefined) throw new Error(`nothing is staged under ${id}`);
    return staged.bytes;
  }
}

class MemoryChannelTexts implements ChannelTexts {
  constructor(private readonly tree: Tree) {}

  async write(product: string, channel: string | null, text: string): Promise<void> {
    this.tree.products.add(product);
    this.tree.keep(
      channel === null ? `${product}/latest.json` : `${product}/${channel}/latest.json`,
      Buffer.from(text),
    );
  }
}

class MemoryAccessFiles implements AccessFileStore {
  constructor(private readonly tree: Tree) {}

  async products(): Promise<string[]> {
    return [...this.tree.products].toSorted();
  }

  async tag(product: string, file: AccessFile): Promise<string | null> {
    return this.tree.files.get(`${product}/${file}`)?.tag ?? null;
  }

  async read(product: string, file: AccessFile): Promise<string | null> {
    return this.tree.files.get(`${product}/${file}`)?.bytes.toString() ?? null;
  }

  async write(product: string, file: AccessFile, text: string): Promise<boolean> {
    this.tree.products.add(product);
    if ((await this.read(product, file)) === text) return false;
    this.tree.keep(`${product}/${file}`, Buffer.from(text));
    return true;
  }

  async remove(product: string, file: AccessFile): Promise<void> {
    this.tree.files.delete(`${product}/${file}`);
  }
}

export class MemoryReleaseStore implements ReleaseStore {
  readonly folder = null;
  readonly #tree: Tree;
  readonly packages: MemoryPackages;
  readonly channels: MemoryChannelTexts;
  readonly access: MemoryAccessFiles;

  constructor(now: () => number = Date.now) {
    this.#tree = new Tree(now);
    this.packages = new MemoryPackages(this.#tree);
    this.channels = new MemoryChannelTexts(this.#tree);
    this.access = new MemoryAccessFiles(this.#tree);
  }

  async open(segments: readonly string[]): Promise<StoredFile | null> {
    const kept = this.#tree.files.get(segments.join('/'));
    if (kept === undefined || segments.some((segment) => segment === '' || /^\.|\//.test(segment))) return null;
    const { bytes, at, tag } = kept;
    return {
      size: bytes.length,
      modifiedAt: at,
      tag,
      async *read(start, end) {
        for (let at = start; at < end; at += PIECE) yield bytes.subarray(at, Math.min(end, at + PIECE));
      },
    };
  }

  async admit(): Promise<void> {}

  async probe(): Promise<void> {}

  async close(): Promise<void> {}
}
