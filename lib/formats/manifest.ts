/**
 * Release manifests (contract 40, manifest). The signature covers the exact text, which is never
 * re-serialized.
 */
import { compareVersions, isVersion } from '../versions.js';
import { isTimestamp } from '../time.js';
import type { FileMode, ArchivedFile } from './archive.js';
import { compareCodePoints } from './code-points.js';
import { createGlobMatcher, findGlobFault } from './globs.js';
import { PathSet } from './path-set.js';
import { findPathFault } from './path-policy.js';
import { isPlatform, type Platform } from './platform.js';
import { toPrintable } from '../text/printable.js';

export interface ManifestFile extends ArchivedFile {
  preserve: boolean;
}

/**
 * Required runtime as named by the packager: `{name: "Microsoft.NETCore.App", version: "8.0.0"}`.
 */
export type PackageRuntime = { name: string; version: string };

export interface ReleaseManifest {
  schema: 1;
  product: string;
  version: string;
  channel: string;
  platform: Platform;
  /** RFC 3339 in UTC. */
  published_at: string;
  package: { sha256: string; size: number };
  files: ManifestFile[];
  preserve_patterns: string[];
  /** Oldest version that may update directly; null: any. */
  min_version: string | null;
  setup: Readonly<Record<string, unknown>> | null;
  entry: string | null;
  runtime: PackageRuntime | null;
}

/** Enough for 200,000 files with maximum paths. */
export const MAX_MANIFEST_BYTES = 96 * 1024 ** 2;

export type ManifestInput = Omit<ReleaseManifest, 'schema' | 'files'> & { files: readonly ArchivedFile[] };

/** The member order determines the signed text. */
export function formatManifest(release: ManifestInput): string {
  const files = release.files.toSorted((a, b) => compareCodePoints(a.path, b.path));
  return [...formatManifestPieces({ ...release, files }, files.length + 1)].join('');
}

/**
 * Chunks of `perPiece` files, to not block the event loop.
 * @param release with files sorted by path in code point order
 */
export function* formatManifestPieces(release: ManifestInput, perPiece: number): Generator<string> {
  const preserved = createGlobMatcher(release.preserve_patterns);
  const head = {
    schema: 1,
    product: release.product,
    version: release.version,
    channel: release.channel,
    platform: release.platform,
    published_at: release.published_at,
    package: { sha256: release.package.sha256, size: release.package.size },
  };
  const tail = {
    preserve_patterns: release.preserve_patterns,
    min_version: release.min_version,
    setup: release.setup,
    entry: release.entry,
    runtime: release.runtime && { name: release.runtime.name, version: release.runtime.version },
  };
  yield `${JSON.stringify(head).slice(0, -1)},"files":[`;
  let last = '';
  for (let at = 0; at < release.files.length; at += perPiece) {
    const files = release.files.slice(at, at + perPiece).map(({ path, size, sha256, mode }) => {
      if (compareCodePoints(last, path) > 0) throw new TypeError('the files of a manifest are not sorted');
      last = path;
      return { path, size, sha256, mode, preserve: preserved(path) };
    });
    yield (at === 0 ? '' : ',') + JSON.stringify(files).slice(1, -1);
  }
  yield `],${JSON.stringify(tail).slice(1)}`;
}

/** An invalid manifest, or one that must not be followed. */
export class InvalidManifest extends Error {
  override name = 'ManifestInvalid';
  constructor(
    /** `files[3].path`; '' for the whole. */
    readonly member: string,
    why: string,
  ) {
    super(member === '' ? `The manifest ${why}` : `The manifest’s ${member} ${why}`);
  }
}

/**
 * Ignores unknown members.
 * @throws InvalidManifest
 */
export function readManifest(text: string): ReleaseManifest {
  if (text.length > MAX_MANIFEST_BYTES) throw new InvalidManifest('', `is larger than ${MAX_MANIFEST_BYTES} bytes`);
  const root = readRecord(parseJson(text), '');
  if (root['schema'] !== 1) throw new InvalidManifest('schema', 'is not 1; a newer version may support it');
  const platform = root['platform'];
  if (!isPlatform(platform)) throw new InvalidManifest('platform', 'is unknown');
  const packed = readRecord(root['package'], 'package');
  const manifest: ReleaseManifest = {
    schema: 1,
    product: readName(root['product'], 'product'),
    version: readVersion(root['version'], 'version'),
    channel: readName(root['channel'], 'channel'),
    platform,
    published_at: readTime(root['published_at'], 'published_at'),
    package: { sha256: readSha256(packed['sha256'], 'package.sha256'), size: readSize(packed['size'], 'package.size') },
    files: readFiles(root['files'], platform),
    preserve_patterns: readPatterns(root['preserve_patterns']),
    min_version: readNullable(root['min_version'], (value) => readVersion(value, 'min_version')),
    setup: readNullable(root['setup'], (value) => readRecord(value, 'setup')),
    entry: readNullable(root['entry'], (value) => readString(value, 'entry', 2_048)),
    runtime: readNullable(root['runtime'], readRuntime),
  };
  if (manifest.entry !== null && findPathFault(manifest.entry, platform) !== null)
    throw new InvalidManifest(
      'entry',
      `${toPrintable(manifest.entry, 200)} ${findPathFault(manifest.entry, platform)}`,
    );
  return manifest;
}

/** Members that identify a release. */
export type ReleaseIdentity = Pick<ReleaseManifest, 'product' | 'version' | 'channel' | 'platform'> & {
  sha256: string;
};

/** A signature does not prove that a manifest belongs to this package (contract 90, update). */
export function findIdentityMismatch(manifest: ReleaseManifest, requested: ReleaseIdentity): string | null {
  if (manifest.product !== requested.product) return 'product';
  if (compareVersions(manifest.version, requested.version) !== 0) return 'version';
  if (manifest.channel !== requested.channel) return 'channel';
  if (manifest.platform !== requested.platform) return 'platform';
  return manifest.package.sha256 === requested.sha256 ? null : 'package.sha256';
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new InvalidManifest('', 'is not valid JSON');
  }
}

function readFiles(value: unknown, platform: Platform): ManifestFile[] {
  if (!Array.isArray(value)) throw new InvalidManifest('files', 'is not a list');
  if (value.length > 200_000) throw new InvalidManifest('files', 'has more than 200000 entries');
  const paths = new PathSet();
  return value.map((item: unknown, i) => {
    const at = `files[${i}]`;
    const file = readRecord(item, at);
    const path = readString(file['path'], `${at}.path`, 2_048);
    const why = findPathFault(path, platform) ?? paths.add(path, 'file');
    if (why !== null) throw new InvalidManifest(`${at}.path`, `${toPrintable(path, 200)} ${why}`);
    if (typeof file['preserve'] !== 'boolean') throw new InvalidManifest(`${at}.preserve`, 'is not a boolean');
    return {
      path,
      size: readSize(file['size'], `${at}.size`),
      sha256: readSha256(file['sha256'], `${at}.sha256`),
      mode: readMode(file['mode'], `${at}.mode`),
      preserve: file['preserve'],
    };
  });
}

function readPatterns(value: unknown): string[] {
  if (!Array.isArray(value) || value.length > 1_000)
    throw new InvalidManifest('preserve_patterns', 'is not a list of up to 1000');
  return value.map((item: unknown, i) => {
    const glob = readString(item, `preserve_patterns[${i}]`, 1_000);
    const why = findGlobFault(glob);
    if (why !== null) throw new InvalidManifest(`preserve_patterns[${i}]`, why);
    return glob;
  });
}

function readRuntime(value: unknown): PackageRuntime {
  const it = readRecord(value, 'runtime');
  return { name: readName(it['name'], 'runtime.name'), version: readName(it['version'], 'runtime.version') };
}

const readNullable = <T>(value: unknown, read: (value: unknown) => T): T | null =>
  value === null || value === undefined ? null : read(value);

function readRecord(value: unknown, member: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new InvalidManifest(member, 'is not an object');
  return value as Record<string, unknown>;
}

function readString(value: unknown, member: string, length: number): string {
  if (typeof value !== 'string' || value === '') throw new InvalidManifest(member, 'is not a string');
  if (value.length > length) throw new InvalidManifest(member, `is longer than ${length} characters`);
  return value;
}

function readName(value: unknown, member: string): string {
  const text = readString(value, member, 200);
  if (!/^[\w.@+-]+$/.test(text)) throw new InvalidManifest(member, 'has a character that names cannot have');
  return text;
}

function readVersion(value: unknown, member: string): string {
  const text = readString(value, member, 10_000);
  if (!isVersion(text)) throw new InvalidManifest(member, 'is not a version');
  return text;
}

function readTime(value: unknown, member: string): string {
  const text = readString(value, member, 40);
  if (!isTimestamp(text)) throw new InvalidManifest(member, 'is not an RFC 3339 time');
  return text;
}

function readSha256(value: unknown, member: string): string {
  if (typeof value !== 'string' || !/^[0-9a-f]{64}$/.test(value))
    throw new InvalidManifest(member, 'is not a hex SHA-256');
  return value;
}

function readSize(value: unknown, member: string): number {
  if (!Number.isSafeInteger(value) || (value as number) < 0)
    throw new InvalidManifest(member, 'is not a number of bytes');
  return value as number;
}

function readMode(value: unknown, member: string): FileMode {
  if (value !== '0755' && value !== '0644') throw new InvalidManifest(member, 'is neither 0755 nor 0644');
  return value;
}
