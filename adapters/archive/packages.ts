/**
 * Release packages in an archive: each content once under its hash, with all its places, because a
 * promoted release has two.
 */
import { createHash } from 'node:crypto';
import { isPlatform } from '../../lib/formats/platform.js';
import { isVersion } from '../../lib/versions.js';
import type { ManifestTexts, PackageStore, ReleaseLocation, ReleaseStore } from '../../ports/release-store.js';
import { parseArchiveJson } from './container/head.js';
import type { FileEntry } from '../../lib/formats/archive.js';
import { readEntryText } from './container/reader.js';
import { ArchiveRejectedError } from './container/archive-rejected-error.js';
import { createTextEntry, type ArchiveEntry, type WrittenArchive } from './container/writer.js';

const PACKAGE_ENTRY_PATTERN = /^releases\/([0-9a-f]{64})\.tar\.gz$/;
const PLACE_ENTRY_PATTERN = /^releases\/places\/\d{6}\.json$/;
const SLUG_PATTERN = /^[a-z0-9][a-z0-9._-]{0,63}$/;
const LATEST_FILE = 'latest.json';
/** Limit for one manifest, which lists up to 200,000 files. */
const MAX_PLACE_BYTES = 128 * 1024 * 1024;
const PACKAGE_FILE = 'package.tar.gz';
/**
 * Denies all access until a start writes the product's access files; no start accepts this format.
 */
const CLOSED_ACCESS_TEXT = '# aos-access closed\nRequire all denied\n';

export type PackageTarget = Pick<ReleaseStore, 'packages' | 'access'>;

export interface PlacedPackage {
  place: ReleaseLocation;
  /** Hex, of the package. */
  sha256: string;
  texts: ManifestTexts;
}

export interface ArchivedPackages extends WrittenArchive {
  places: readonly ReleaseLocation[];
}

/** @param places receives the place of each */
export async function* iteratePackageEntries(
  releases: ReleaseStore,
  places: ReleaseLocation[],
): AsyncGenerator<ArchiveEntry> {
  const packed = new Set<string>();
  let n = 0;
  for await (const place of releases.packages.iterateLocations()) {
    const held = await releases.packages.readPackageInfo(place);
    if (held === null || held.texts === null) continue;
    const { sha256, size, texts } = held;
    if (!packed.has(sha256))
      yield { path: `releases/${sha256}.tar.gz`, size, content: readPackageBytes(releases, place), sha256 };
    packed.add(sha256);
    places.push(place);
    const row: PlacedPackage = { place, sha256, texts };
    yield createTextEntry(`releases/places/${String(++n).padStart(6, '0')}.json`, JSON.stringify(row));
  }
}

async function* readPackageBytes(releases: ReleaseStore, place: ReleaseLocation): AsyncGenerator<Uint8Array> {
  const { product, channel, version, platform } = place;
  const file = await releases.open([product, channel, version, platform, PACKAGE_FILE]);
  if (file !== null) yield* file.read(0, file.size);
}

/** @throws ArchiveRejected */
export async function checkPackageEntry(entry: FileEntry, content: AsyncIterable<Uint8Array>): Promise<void> {
  if (PACKAGE_ENTRY_PATTERN.test(entry.path)) return;
  if (!PLACE_ENTRY_PATTERN.test(entry.path))
    throw new ArchiveRejectedError(`contains ${entry.path}, which does not belong in it`);
  parsePlacedPackage(await readEntryText(entry, content, MAX_PLACE_BYTES));
}

/** Packages that are staged from an archive into a release store, where they are not served. */
export class StagedPackages {
  readonly ids: Record<string, string> = {};

  constructor(private readonly packages: PackageStore) {}

  /**
   * @returns its place, or null for a package
   * @throws ArchiveRejected
   */
  async stageEntry(entry: FileEntry, content: AsyncIterable<Uint8Array>): Promise<PlacedPackage | null> {
    const sha256 = PACKAGE_ENTRY_PATTERN.exec(entry.path)?.[1];
    if (sha256 !== undefined) {
      const staged = await this.packages.stage(content, { bytes: entry.size, keepFree: 0 });
      this.ids[sha256] = staged.id;
      if (staged.sha256 !== sha256) throw new ArchiveRejectedError(`contains ${entry.path} with different content`);
      return null;
    }
    if (!PLACE_ENTRY_PATTERN.test(entry.path))
      throw new ArchiveRejectedError(`contains ${entry.path}, which does not belong in it`);
    const placed = parsePlacedPackage(await readEntryText(entry, content, MAX_PLACE_BYTES));
    if (this.ids[placed.sha256] === undefined)
      throw new ArchiveRejectedError(`refers to a package before it contains it`);
    return placed;
  }

  async discard(): Promise<void> {
    for (const id of Object.values(this.ids)) await this.packages.discard(id);
  }
}

/** @throws ArchiveRejected */
export function parsePlacedPackage(text: string): PlacedPackage {
  const { place, sha256, texts } = (parseArchiveJson(text) ?? {}) as Partial<PlacedPackage>;
  const { manifest, signature } = texts ?? {};
  const whole =
    isPlace(place) &&
    typeof sha256 === 'string' &&
    typeof manifest === 'string' &&
    (signature === null || typeof signature === 'string');
  if (!whole) throw new ArchiveRejectedError('describes a package without a valid location');
  const { product, channel, version, platform } = place;
  return { place: { product, channel, version, platform }, sha256, texts: { manifest, signature } };
}

const isPlace = (place: Partial<ReleaseLocation> | undefined): place is ReleaseLocation =>
  [place?.product, place?.channel].every(
    (name) => typeof name === 'string' && SLUG_PATTERN.test(name) && name !== LATEST_FILE,
  ) &&
  typeof place?.version === 'string' &&
  place.version.length < 255 &&
  isVersion(place.version) &&
  isPlatform(place.platform);

/**
 * Repeatable after an interruption: existing packages stay. Archives contain no access files, so a
 * product without them is closed before its first package is placed.
 * @throws Error when a package is neither staged nor in place
 */
export async function putPackages(
  { packages, access }: PackageTarget,
  ids: Readonly<Record<string, string>>,
  places: AsyncIterable<PlacedPackage>,
): Promise<number> {
  const waiting = new Set((await packages.listStaged()).map(({ id }) => id));
  const first = new Map<string, ReleaseLocation>();
  let n = 0;
  for await (const { place, sha256, texts } of places) {
    if ((await access.getTag(place.product, '.htaccess')) === null)
      await access.write(place.product, '.htaccess', CLOSED_ACCESS_TEXT);
    const from = first.get(sha256);
    const id = ids[sha256] ?? '';
    if (from !== undefined) await packages.link(from, place, texts);
    else if (waiting.has(id)) await packages.put(id, place, texts);
    else if ((await packages.readPackageInfo(place))?.sha256 === sha256) await packages.writeTexts(place, texts);
    else throw new Error(`the package of ${Object.values(place).join('/')} is neither staged nor in its location`);
    first.set(sha256, first.get(sha256) ?? place);
    n++;
  }
  return n;
}

export const computeSha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
