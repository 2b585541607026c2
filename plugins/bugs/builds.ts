/**
 * Builds as items name them: a version of contract 40's grammar, or a release's build name. Pure.
 *
 * An index finds the items that a publish closes, so equal versions need one text: `1.2` and `1.2.0` both become `1.2`.
 */
import type { ReleaseDirectory } from '../../ports/domain/releases.js';

const VERSION = /^\d+(\.\d+){0,5}(-[0-9A-Za-z.-]{1,40})?$/;

export type Published = Awaited<ReturnType<ReleaseDirectory['published']>>;

/** A version within contract 40's grammar. */
export const isVersion = (text: string): boolean => text.length <= 1024 && VERSION.test(text);

/** The one spelling of a version (no leading zeros, no trailing zero segments); other text stays as it is. */
export function canonical(build: string): string {
  const text = build.trim();
  if (!isVersion(text)) return text;
  const { segments, suffix } = parts(text);
  return segments.join('.') + (suffix === null ? '' : `-${suffix}`);
}

function parts(version: string): { segments: string[]; suffix: string | null } {
  const dash = version.indexOf('-');
  const numbers = dash < 0 ? version : version.slice(0, dash);
  const segments = numbers.split('.').map((s) => s.replace(/^0+(?=\d)/, ''));
  while (segments.length > 1 && segments.at(-1) === '0') segments.pop();
  return { segments, suffix: dash < 0 ? null : version.slice(dash + 1) };
}

/** Numbers of any length, as text without leading zeros. */
function compareNumbers(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : Number(a > b);
}

/** Suffixes as in SemVer: numbers below words, a shorter list of equal parts below a longer one. */
function compareSuffixes(a: string, b: string): number {
  const left = a.split('.');
  const right = b.split('.');
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const x = left[i];
    const y = right[i];
    if (x === undefined || y === undefined) return x === undefined ? -1 : 1;
    const numeric = [/^\d+$/.test(x), /^\d+$/.test(y)];
    if (numeric[0] !== numeric[1]) return numeric[0] ? -1 : 1;
    const c = numeric[0]
      ? compareNumbers(x.replace(/^0+(?=\d)/, ''), y.replace(/^0+(?=\d)/, ''))
      : x < y
        ? -1
        : Number(x > y);
    if (c !== 0) return c;
  }
  return 0;
}

/** Below 0, 0 or above 0, by numeric segments (contract 40, versions). Both must be versions. */
export function compareVersions(a: string, b: string): number {
  const left = parts(a);
  const right = parts(b);
  for (let i = 0; i < Math.max(left.segments.length, right.segments.length); i++) {
    const c = compareNumbers(left.segments[i] ?? '0', right.segments[i] ?? '0');
    if (c !== 0) return c;
  }
  if (left.suffix === null || right.suffix === null)
    return Number(left.suffix === null) - Number(right.suffix === null);
  return compareSuffixes(left.suffix, right.suffix);
}

/** Where the index looks for items that wait for a build. */
export const buildKey = (project: string, build: string): string => `${project} ${canonical(build)}`;

/** The version that a `resolved_in_build` stands for: its own, or that of the release with this build name; else null. */
export function versionOf(build: string, published: Published): string | null {
  if (isVersion(build.trim())) return build.trim();
  return published.find((release) => release.build === build)?.version ?? null;
}

/** A release whose version equals the build, or that was published under this build name, is there. */
export function isPublished(build: string, published: Published): boolean {
  const wanted = canonical(build);
  return published.some((r) => canonical(r.version) === wanted || (r.build !== null && canonical(r.build) === wanted));
}
