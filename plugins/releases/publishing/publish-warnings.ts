/** Of an allowed publish (contract 40, amendments). */
import { compareVersions } from '../../../lib/versions.js';
import { createGlobMatcher } from '../../../lib/formats/globs.js';
import type { PackagedFile } from '../../../ports/release-store.js';
import type { ReleaseDoc } from '../model.js';

const MAX_LISTED_NAMES = 5;

type EarlierRelease = Pick<ReleaseDoc, 'version' | 'preserve_patterns' | 'withdrawn_at'>;

interface CheckedRelease {
  version: string;
  min_version: string | null;
  preserve_patterns: readonly string[];
  files: readonly PackagedFile[];
  setup: Readonly<Record<string, unknown>> | null;
}

/** @param others of this channel and platform */
export function listPublishWarnings(release: CheckedRelease, others: readonly EarlierRelease[]): string[] {
  return [
    ...findMissingPatterns(release, others),
    ...findUnpreservedTargets(release),
    ...findMissingSteps(release, others),
  ];
}

function findMissingPatterns(
  { version, preserve_patterns }: CheckedRelease,
  others: readonly EarlierRelease[],
): string[] {
  const before = others
    .filter((other) => other.withdrawn_at === null && compareVersions(other.version, version) < 0)
    .reduce<EarlierRelease | null>((a, b) => (a !== null && compareVersions(a.version, b.version) >= 0 ? a : b), null);
  const missing = before?.preserve_patterns.filter((pattern) => !preserve_patterns.includes(pattern)) ?? [];
  if (before === null || missing.length === 0) return [];
  return [
    `preserve_patterns of ${before.version} are missing: ${formatNames(missing)}. Later updates will replace those files.`,
  ];
}

function findUnpreservedTargets({ setup, files, preserve_patterns }: CheckedRelease): string[] {
  const isPreserved = createGlobMatcher(preserve_patterns);
  const shipped = new Set(files.map(({ path }) => path));
  const targets = new Set(listTargetFiles(setup).filter((path) => shipped.has(path) && !isPreserved(path)));
  if (targets.size === 0) return [];
  const list = formatNames([...targets]);
  return [
    `setup.json writes to packaged files that are not preserved: ${list}. Updates merge its values into the new files.`,
  ];
}

function listTargetFiles(setup: CheckedRelease['setup']): string[] {
  const values: unknown = setup?.['values'];
  const membersOf = (value: unknown, member: string): unknown[] => {
    const list: unknown = (value as Record<string, unknown> | null)?.[member];
    return Array.isArray(list) ? list : [];
  };
  return (Array.isArray(values) ? values : [])
    .flatMap((value) => membersOf(value, 'targets'))
    .filter((target): target is { file: string; location?: unknown } => {
      const { file, location } = (target ?? {}) as { file?: unknown; location?: unknown };
      return typeof file === 'string' && (location === undefined || location === 'install');
    })
    .map(({ file }) => file.replaceAll('\\', '/'));
}

/** A machine below `min_version` needs a release in between. */
function findMissingSteps({ version, min_version }: CheckedRelease, others: readonly EarlierRelease[]): string[] {
  if (min_version === null) return [];
  const steps = others.filter(
    (other) => compareVersions(other.version, min_version) >= 0 && compareVersions(other.version, version) < 0,
  );
  if (steps.length === 0 || steps.some(({ withdrawn_at }) => withdrawn_at === null)) return [];
  return [
    `Only withdrawn releases lead from below ${min_version} to ${version}: it is not offered to machines below. Publish an intermediate release.`,
  ];
}

const formatNames = (names: readonly string[]): string =>
  `${names.slice(0, MAX_LISTED_NAMES).join(', ')}${names.length > MAX_LISTED_NAMES ? ` and ${names.length - MAX_LISTED_NAMES} more` : ''}`;
