/**
 * Release packages in an archive: each content once under its hash, with all its places, because a
 * promoted release has two. `latest.json` and access files are generated from the documents.
 */
import { createHash } from 'node:crypto';
import { isPlatform } from '../../lib/formats/platform.js';
import { isVersion } from '../../lib/versions.js';
import type { ManifestTexts, PackageStore, ReleasePlace, ReleaseStore } from '../../ports/release-store.js';
import { parsed } from './container/head.js';
import type { FileEntry } from '../../lib/formats/archive.js';
import { entryText } from './container/reader.js';
import { ArchiveRejected } from './container/rejected.js';
import { textEntry, type ArchiveEntry, type WrittenArchive } from './container/writer.js';

const PACKAGE = /^releases\/([0-9a-f]{64})\.tar\.gz$/;
const PLACE = /^releases\/places\/\d{6}\.json$/;
const SLUG = /^[a-z0-9][a-z0-9._-]{0,63}$/;
const LATEST = 'latest.json';
/** Limit for one manifest, which lists up to 200,000 files. */
const MAX_PLACE_BYTES = 128 * 1024 * 1024;
const PACKAGE_FILE = 'package.tar.gz';
/**
 * Denies all access until a start writes the product's access files; no start accepts this format.
 */
const CLOSED = '# aos-access closed\nRequire all denied\n';

export type PackageTarget = Pick<ReleaseStore, 'packages' | 'access'>;

export interface PlacedPackage {
  place: ReleasePlace;
  /** Hex, of the package. */
  sha256: string;
  texts: ManifestTexts;
}

export interface PackedArchive extends WrittenArchive {
  places: readonly ReleasePlace[];
}

/**
 * Iterates over every package that is in place with its manifest.
 * @param places receives the place of each
 */
export async function* packageEntries(releases: ReleaseStore, places: ReleasePlace[]): AsyncGenerator<ArchiveEntry> {
  const packed = new Set<string>();
  let n = 0;
  for await (const place of releases.packages.places()) {
    const held = await releases.packages.held(place);
    if (held === null || held.texts === null) continue;
    const { sha256, size, texts } = held;
    if (!packed.has(sha256))
      yield { path: `releases/${sha256}.tar.gz`, size, content: bytesOf(releases, place), sha256 };
    packed.add(sha256);
    places.push(place);
    const row: PlacedPackage = { place, sha256, texts };
    yield textEntry(`releases/places/${String(++n).padStart(6, '0')}.json`, JSON.stringify(row));
  }
}

async function* bytesOf(releases: ReleaseStore, place: ReleasePlace): AsyncGenerator<Uint8Array> {
  const { product, channel, version, platform } = place;
  const file = await releases.open([product, channel, version, platform, PACKAGE_FILE]);
  if (file !== null) yield* file.read(0, file.size);
}

/**
 * Validates an entry below `releases/` without storing it.
 * @throws ArchiveRejected
 */
export async function checkPackageEntry(entry: FileEntry, content: AsyncIterable<Uint8Array>): Promise<void> {
  if (PACKAGE.test(entry.path)) return;
  if (!PLACE.test(entry.path)) throw new ArchiveRejected(`holds ${entry.path}, which has no place in it`);
  placedOf(await entryText(entry, content, MAX_PLACE_BYTES));
}

/** Packages that are staged from an archive into a release store, where they are not served. */
export class StagedPackages {
  readonly ids: Record<string, string> = {};

  constructor(private readonly packages: PackageStore) {}

  /**
   * Reads an entry below `releases/`.
   * @returns its place, or null for a package
   * @throws ArchiveRejected
   */
  async take(entry: FileEntry, content: AsyncIterable<Uint8Array>): Promise<PlacedPackage | null> {
    const sha256 = PACKAGE.exec(entry.path)?.[1];
    if (sha256 !== undefined) {
      const staged = await this.packages.stage(content, { bytes: entry.size, keepFree: 0 });
      this.ids[sha256] = staged.id;
      if (staged.sha256 !== sha256) throw new ArchiveRejected(`holds ${entry.path} with another content`);
      return null;
    }
    if (!PLACE.test(entry.path)) throw new ArchiveRejected(`holds ${entry.path}, which has no place in it`);
    const placed = placedOf(await entryText(entry, content, MAX_PLACE_BYTES));
    if (this.ids[placed.sha256] === undefined) throw new ArchiveRejected(`names a package before it holds it`);
    return placed;
  }

  async discard(): Promise<void> {
    for (const id of Object.values(this.ids)) await this.packages.discard(id);
  }
}

/** @throws ArchiveRejected */
export function placedOf(text: string): PlacedPackage {
  const { place, sha256, texts } = (parsed(text) ?? {}) as Partial<PlacedPackage>;
  const { manifest, signature } = texts ?? {};
  const whole =
    isPlace(place) &&
    typeof sha256 === 'string' &&
    typeof manifest === 'string' &&
    (signature === null || typeof signature === 'string');
  if (!whole) throw new ArchiveRejected('describes a package that has no place');
  const { product, channel, version, platform } = place;
  return { place: { product, channel, version, platform }, sha256, texts: { manifest, signature } };
}

const isPlace = (place: Partial<ReleasePlace> | undefined): place is ReleasePlace =>
  [place?.product, place?.channel].every((name) => typeof name === 'string' && SLUG.test(name) && name !== LATEST) &&
  typeof place?.version === 'string' &&
  place.version.length < 255 &&
  isVersion(place.version) &&
  isPlatform(place.platform);

/**
 * Puts staged packages in place. Repeatable after an interruption: existing packages stay. Archives
 * contain no access files, so a product without them is closed before its first package is placed.
 *
 * @param places of one archive; iterated twice
 * @throws Error when a package is neither staged nor in place
 */
export async function putPackages(
  { packages, access }: PackageTarget,
  ids: Readonly<Record<string, string>>,
  places: AsyncIterable<PlacedPackage>,
): Promise<number> {
  const waiting = new Set((await packages.staged()).map(({ id }) => id));
  const first = new Map<string, ReleasePlace>();
  let n = 0;
  for await (const { place, sha256, texts } of places) {
    if ((await access.tag(place.product, '.htaccess')) === null) await access.write(place.product, '.htaccess', CLOSED);
    const from = first.get(sha256);
    const id = ids[sha256] ?? '';
    if (from !== undefined) await packages.link(from, place, texts);
    else if (waiting.has(id)) await packages.put(id, place, texts);
    else if ((await packages.held(place))?.sha256 === sha256) await packages.describe(place, texts);
    else throw new Error(`the package of ${Object.values(place).join('/')} is neither staged nor in its place`);
    first.set(sha256, first.get(sha256) ?? place);
    n++;
  }
  return n;
}

export const sha256Of = (text: string): string => createHash('sha256').update(text).digest('hex');
