/** The release store in memory: for tests, and for a service that keeps nothing. What it answers is what the file system's does. */
import { createHash, randomUUID } from 'node:crypto';
import { readPackage, PackageRejected as Rejected } from '../../formats/archive.js';
import { KeptText } from '../../formats/kept-text.js';
import {
  MAX_SETUP_BYTES,
  PackageRejected,
  PackageTooLarge,
  type AccessFile,
  type ManifestTexts,
  type PackageContents,
  type ReleasePlace,
  type ReleaseStore,
  type StagedPackage,
  type StoredFile,
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

export class MemoryReleaseStore implements ReleaseStore {
  readonly folder = null;
  readonly #staged = new Map<string, Kept>();
  /** By path below the store. */
  readonly #files = new Map<string, Kept>();
  readonly #products = new Set<string>();

  constructor(private readonly now: () => number = Date.now) {}

  async stage(bytes: AsyncIterable<Uint8Array>, limits: { bytes: number; keepFree: number }): Promise<StagedPackage> {
    const pieces: Uint8Array[] = [];
    let size = 0;
    for await (const piece of bytes) {
      size += piece.length;
      if (size > limits.bytes) throw new PackageTooLarge(`more than ${limits.bytes} bytes`);
      pieces.push(piece);
    }
    const id = randomUUID();
    const whole = this.#kept(Buffer.concat(pieces));
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
    const setup = new KeptText('setup.json', MAX_SETUP_BYTES);
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
    this.#keep(`${folder(place)}/package.tar.gz`, bytes);
    this.#products.add(place.product);
    await this.describe(place, texts);
    this.#staged.delete(id);
  }

  async link(from: ReleasePlace, to: ReleasePlace, texts: ManifestTexts): Promise<boolean> {
    const held = this.#files.get(`${folder(from)}/package.tar.gz`);
    if (held === undefined) return false;
    this.#files.set(`${folder(to)}/package.tar.gz`, held);
    this.#products.add(to.product);
    await this.describe(to, texts);
    return true;
  }

  async describe(place: ReleasePlace, { manifest, signature }: ManifestTexts): Promise<void> {
    const signed = `${folder(place)}/manifest.sig`;
    if (signature === null) this.#files.delete(signed);
    else this.#keep(signed, Buffer.from(signature));
    this.#keep(`${folder(place)}/manifest.json`, Buffer.from(manifest));
  }

  async withdraw(place: ReleasePlace): Promise<boolean> {
    const there = this.#files.has(`${folder(place)}/package.tar.gz`);
    for (const name of ['package.tar.gz', 'manifest.sig', 'manifest.json'])
      this.#files.delete(`${folder(place)}/${name}`);
    return there;
  }

  async held(place: ReleasePlace): Promise<{ size: number; sha256: string; texts: ManifestTexts | null } | null> {
    const text = (name: string): string | null => this.#files.get(`${folder(place)}/${name}`)?.bytes.toString() ?? null;
    const held = this.#files.get(`${folder(place)}/package.tar.gz`);
    if (held === undefined) return null;
    const manifest = text('manifest.json');
    const texts = manifest === null ? null : { manifest, signature: text('manifest.sig') };
    return { size: held.bytes.length, sha256: sha256(held.bytes), texts };
  }

  async *places(): AsyncGenerator<ReleasePlace> {
    const found = [...this.#files.keys()].map((path) => path.split('/')).filter(({ length }) => length === 5);
    for (const path of new Set(found.map((segments) => segments.slice(0, 4).join('/')))) {
      const [product = '', channel = '', version = '', platform = ''] = path.split('/');
      yield { product, channel, version, platform };
    }
  }

  async products(): Promise<string[]> {
    return [...this.#products].toSorted();
  }

  async writeLatest(product: string, channel: string | null, text: string): Promise<void> {
    this.#products.add(product);
    this.#keep(channel === null ? `${product}/latest.json` : `${product}/${channel}/latest.json`, Buffer.from(text));
  }

  async accessTag(product: string, file: AccessFile): Promise<string | null> {
    return this.#files.get(`${product}/${file}`)?.tag ?? null;
  }

  async readAccess(product: string, file: AccessFile): Promise<string | null> {
    return this.#files.get(`${product}/${file}`)?.bytes.toString() ?? null;
  }

  async writeAccess(product: string, file: AccessFile, text: string): Promise<boolean> {
    this.#products.add(product);
    if ((await this.readAccess(product, file)) === text) return false;
    this.#keep(`${product}/${file}`, Buffer.from(text));
    return true;
  }

  /** As an administrator does by hand. */
  async removeAccess(product: string, file: AccessFile): Promise<void> {
    this.#files.delete(`${product}/${file}`);
  }

  async open(segments: readonly string[]): Promise<StoredFile | null> {
    const kept = this.#files.get(segments.join('/'));
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

  async freeBytes(): Promise<null> {
    return null;
  }

  #stagedBytes(id: string): Buffer {
    const staged = this.#staged.get(id);
    if (staged === undefined) throw new Error(`nothing is staged under ${id}`);
    return staged.bytes;
  }

  #kept(bytes: Buffer): Kept {
    return { bytes, at: new Date(this.now()), tag: randomUUID() };
  }

  #keep(path: string, bytes: Buffer): void {
    this.#files.set(path, this.#kept(bytes));
  }
}
