/** Commit texts are untrusted. */
import type { ReleaseSighting, SuspectView } from '../../builds/release-timeline.js';
import { buildCommitUrl } from '../../lists/code-url.js';
import type { ItemSectionInput } from './section.js';

export function buildReleasesSection({ detail, item }: ItemSectionInput): object {
  const { first_release, regressed_release, suspect_commits } = detail;
  return {
    sightings: [
      ...(first_release === null ? [] : [toSightingView('Started with', first_release)]),
      ...(regressed_release === null ? [] : [toSightingView('Regressed in', regressed_release)]),
    ],
    suspects: suspect_commits.map((commit) => toCommitView(commit, item.repo_url)),
    // The others touch nothing in the trace.
    has_suspects: suspect_commits.some(({ touched }) => touched !== null),
  };
}

const toSightingView = (label: string, { version, published_at, seconds_after }: ReleaseSighting): object => ({
  label,
  version,
  published_at,
  after: `${formatDuration(Math.abs(seconds_after))} ${seconds_after < 0 ? 'before' : 'after'} its publish`,
});

const DURATION_UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

export function formatDuration(seconds: number): string {
  const [name, size] = DURATION_UNITS.find(([, length]) => seconds >= length) ?? DURATION_UNITS[3];
  const n = Math.floor(seconds / size);
  return `${n} ${name}${n === 1 ? '' : 's'}`;
}

function toCommitView(suspect: SuspectView, repository: string | null): object {
  const { files: _files, ...commit } = suspect;
  return { ...commit, short: commit.id.slice(0, 10), url: buildCommitUrl(repository, commit.id) };
}
