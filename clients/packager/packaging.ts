import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compareVersions, isVersion, isSameVersion } from '../../lib/versions.js';
import { createGlobMatcher } from '../../lib/formats/globs.js';
import { isPlatform, type Platform } from '../../lib/formats/platform.js';
import { packArchive, type ArchiveFile } from './archive-file.js';
import { readCommits, type GitCommits } from './commits.js';
import { formatSize, type PackagerConsole } from './console.js';
import { findCredentialWarnings } from './credentials.js';
import { EXIT_CODES, PackagerFailure } from './packager-failure.js';
import { readMainAssembly, type MainAssembly } from './main-assembly.js';
import type { PackagerSettings } from './options.js';
import { findPlatformInPath, listPublishFiles, type PublishFile, findUnmatchedPatterns } from './publish-files.js';
import { toUnwritableFailure } from './unwritable-failure.js';
import { PublishingClient, type ListedRelease, type ReleaseToPublish } from './service.js';

/** GNU tar warns about times before 1980. */
const DEFAULT_MTIME_S = 315_532_800;

export interface PackagingResult {
  project: string;
  version: string;
  channel: string;
  platform: Platform;
  files: number;
  unpacked_size: number;
  package_size: number;
  package_sha256: string;
  archive: string | null;
  warnings: string[];
  commits: number | null;
  published: Record<string, unknown> | null;
}

export async function runPackager(
  settings: PackagerSettings,
  console: PackagerConsole,
  epoch: string | undefined,
): Promise<PackagingResult> {
  const warnings: string[] = [];
  const warn = (text: string): void => {
    warnings.push(text);
    console.printWarning(text);
  };
  await checkDirectory(settings.publishDir);
  const mtime = parseMtime(epoch);
  const assembly = await readMainAssembly(settings.publishDir, settings.mainAssembly);
  const version = resolveVersion(settings, assembly, warn);
  const platform = settings.platform ?? detectPlatform(settings.publishDir, warn);
  const { project, channel } = settings;

  // Read before packing, because an unknown range is an error in the command.
  const commits = settings.commits === null ? null : await readCommits(settings.commits, process.cwd());
  if (commits !== null) console.printLine(formatCommitSummary(commits));
  const service = settings.server && new PublishingClient(settings.server.url, settings.server.token);
  if (service === null) warn('The release history was not read, because --server or a token is missing.');
  const history = service === null ? [] : await service.fetchHistory(project, channel);
  listNewerReleaseWarnings(history, version, platform).forEach(warn);

  const archivePath =
    settings.output === null
      ? null
      : resolveArchivePath(settings.output, `${project}-${version}-${channel}-${platform}.tar.gz`);
  const { files, excluded, junk } = await listPublishFiles(settings.publishDir, {
    platform,
    exclude: settings.exclude,
    own: [settings.configFile, ...(archivePath === null ? [] : [archivePath])],
  });
  const all = [...files.map(({ path }) => path), ...excluded];
  findUnmatchedPatterns('excludePatterns', settings.exclude, all).forEach(warn);
  if (junk.length > 0) console.printLine(`Excluded ${junk.length} system files: ${junk.slice(0, 5).join(', ')}`);
  const preserved = createGlobMatcher(settings.preserve);
  const suspicious = await findCredentialWarnings(files, preserved);
  suspicious.forEach(warn);
  if (settings.strict && suspicious.length > 0) {
    const count = suspicious.length === 1 ? 'a warning' : `${suspicious.length} warnings`;
    throw new PackagerFailure(EXIT_CODES.refused, `--strict: ${count} of credentials; nothing was packed.`);
  }
  findUnmatchedPatterns(
    'preservePatterns',
    settings.preserve,
    files.map(({ path }) => path),
  ).forEach(warn);
  const entry = resolveEntry(settings, assembly, files);

  return withArchivePath(archivePath, async (path) => {
    const archive = await packArchive(files, path, {
      mtime,
      platform,
      entry,
      onProgress: (done, total) => console.drawProgress('Packing  ', done, total),
    });
    console.printLine(
      `${archive.files} ${archive.files === 1 ? 'file' : 'files'}, ${formatSize(archive.unpackedBytes)}, packed to ${formatSize(archive.size)}, SHA-256 ${archive.sha256}`,
    );
    listReplacementWarnings(history, version, platform, archive.sha256).forEach(warn);
    const release: ReleaseToPublish = {
      product: project,
      version,
      channel,
      platform,
      build: settings.build,
      min_version: settings.minVersion,
      mandatory: settings.mandatory,
      rollout_percent: settings.rolloutPercent,
      notes: settings.notes,
      meta: { preserve_patterns: settings.preserve, entry, runtime: assembly.runtime },
    };
    const published = await publishArchive(settings, service, release, archive, console, warn);
    if (published !== null && commits !== null)
      await service?.reportCommits(release, commits).catch((error: unknown) => {
        if (!(error instanceof PackagerFailure)) throw error;
        warn(error.message);
      });
    return {
      project,
      version,
      channel,
      platform,
      files: archive.files,
      unpacked_size: archive.unpackedBytes,
      package_size: archive.size,
      package_sha256: archive.sha256,
      archive: archivePath,
      warnings,
      commits: commits?.commits.length ?? null,
      published,
    };
  });
}

async function publishArchive(
  { dryRun }: PackagerSettings,
  service: PublishingClient | null,
  release: ReleaseToPublish,
  archive: ArchiveFile,
  console: PackagerConsole,
  warn: (text: string) => void,
): Promise<Record<string, unknown> | null> {
  const { product, version, channel, platform } = release;
  const named = `${product} ${version} (${channel}, ${platform})`;
  if (dryRun || service === null) {
    console.printLine(`DRY RUN: ${named} was not published`);
    return null;
  }
  const answer = await service.publish(release, archive, (done, total) =>
    console.drawProgress('Uploading', done, total),
  );
  const word = answer['unchanged'] === true ? 'UNCHANGED' : answer['replaced'] === true ? 'REPLACED' : 'PUBLISHED';
  console.printLine(`${word}: ${named}, ${answer['signed'] === true ? 'signed' : 'UNSIGNED'}`);
  // Older servers send only ids.
  const closed = answer['closed_refs'] ?? answer['closed_items'];
  if (Array.isArray(closed) && closed.length > 0) console.printLine(`Closed: ${closed.map(String).join(', ')}`);
  const warnings = answer['warnings'];
  if (Array.isArray(warnings)) warnings.map(String).forEach(warn);
  return answer;
}

function formatCommitSummary({ range, commits, truncated }: GitCommits): string {
  const many = commits.length === 1 ? '1 commit' : `${commits.length} commits`;
  return truncated ? `The newest ${many} of ${range}` : `${many} of ${range}`;
}

async function checkDirectory(dir: string): Promise<void> {
  const found = await stat(dir).catch(() => null);
  if (found === null) throw new PackagerFailure(EXIT_CODES.error, `--publish-dir ${dir} does not exist.`);
  if (!found.isDirectory()) throw new PackagerFailure(EXIT_CODES.error, `--publish-dir ${dir} is not a directory.`);
}

/** One time for all entries, so that equal files produce equal packages. */
function parseMtime(epoch: string | undefined): Date {
  if (epoch === undefined || epoch === '') return new Date(DEFAULT_MTIME_S * 1000);
  if (!/^\d{1,10}$/.test(epoch))
    throw new PackagerFailure(EXIT_CODES.error, 'SOURCE_DATE_EPOCH must be a number of seconds since 1970.');
  return new Date(Number(epoch) * 1000);
}

function resolveVersion(
  { version, ignoreVersionMismatch }: PackagerSettings,
  { version: built, source }: MainAssembly,
  warn: (text: string) => void,
): string {
  if (version === null) {
    if (built === null) throw new PackagerFailure(EXIT_CODES.usage, '--version is missing, and the build has none.');
    return built;
  }
  if (built === null) warn(`The build has no version, so ${version} was not verified.`);
  else if (!isSameVersion(built, version)) {
    const differs = `--version ${version} differs from ${built}, the version of ${source}`;
    if (!ignoreVersionMismatch)
      throw new PackagerFailure(EXIT_CODES.versionMismatch, `${differs}; --ignore-version-mismatch allows it.`);
    warn(`${differs}.`);
  }
  return version;
}

function detectPlatform(dir: string, warn: (text: string) => void): Platform {
  const named = findPlatformInPath(dir, (text) => isPlatform(text) && text !== 'any');
  if (isPlatform(named)) return named;
  warn('No --platform, and none in the publish path: the package is published for any platform.');
  return 'any';
}

const listOfferedReleases = (history: readonly ListedRelease[]): ListedRelease[] =>
  history.filter((release) => isVersion(release.version) && release.withdrawn_at === null);

function listNewerReleaseWarnings(history: readonly ListedRelease[], version: string, platform: Platform): string[] {
  const seen = listOfferedReleases(history).filter(
    (release) => release.platform === platform || release.platform === 'any',
  );
  const [newest] = seen.toSorted((a, b) => compareVersions(b.version, a.version));
  if (newest === undefined || compareVersions(newest.version, version) <= 0) return [];
  return [
    `${version} is older than ${newest.version}, the newest for ${platform}: it is offered only to machines below a min_version of ${newest.version}.`,
  ];
}

/** Equal bytes replace nothing: the service answers `unchanged`. */
function listReplacementWarnings(
  history: readonly ListedRelease[],
  version: string,
  platform: Platform,
  sha256: string,
): string[] {
  const same = listOfferedReleases(history).find(
    (release) => isSameVersion(release.version, version) && release.platform === platform,
  );
  if (same === undefined || same.package_sha256 === sha256) return [];
  return [`${same.version} for ${platform} is already published; a different package replaces it.`];
}

function resolveEntry(
  { entry, configFile }: PackagerSettings,
  assembly: MainAssembly,
  files: readonly PublishFile[],
): string | null {
  const packed = (path: string): boolean => files.some((file) => file.path === path);
  if (entry !== null && !packed(entry))
    throw new PackagerFailure(EXIT_CODES.error, `${configFile}: entry ${entry} is not in the package.`);
  const derived = assembly.entry !== null && packed(assembly.entry) ? assembly.entry : null;
  return entry ?? derived;
}

const resolveArchivePath = (output: string, name: string): string =>
  /\.(tar\.gz|tgz)$/.test(output) ? output : join(output, name);

async function withArchivePath<T>(archivePath: string | null, work: (path: string) => Promise<T>): Promise<T> {
  if (archivePath !== null) return work(archivePath);
  const place = join(tmpdir(), 'packager-');
  const folder = await mkdtemp(place).catch((error: unknown) => {
    throw toUnwritableFailure(error, place);
  });
  try {
    return await work(join(folder, 'package.tar.gz'));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
