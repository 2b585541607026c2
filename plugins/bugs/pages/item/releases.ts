/** Release that introduced the item, and suspect commits. Commit texts are untrusted. */
import type { Sighting, SuspectView } from '../../builds/release-sightings.js';
import { buildCommitUrl } from '../../lists/code-url.js';
import type { About } from './about.js';

export function releases({ detail, item }: About): object {
  const { first_release, regressed_release, suspect_commits } = detail;
  return {
    sightings: [
      ...(first_release === null ? [] : [saidOf('First seen in', first_release)]),
      ...(regressed_release === null ? [] : [saidOf('Came back in', regressed_release)]),
    ],
    suspects: suspect_commits.map((commit) => shownCommit(commit, item.repo_url)),
    // Other commits only belong to the release and touch nothing in the trace.
    has_suspects: suspect_commits.some(({ touched }) => touched !== null),
  };
}

const saidOf = (label: string, { version, published_at, seconds_after }: Sighting): object => ({
  label,
  version,
  published_at,
  after: `${spanOf(Math.abs(seconds_after))} ${seconds_after < 0 ? 'before' : 'after'} its publish`,
});

const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

export function spanOf(seconds: number): string {
  const [name, size] = UNITS.find(([, length]) => seconds >= length) ?? UNITS[3];
  const n = Math.floor(seconds / size);
  return `${n} ${name}${n === 1 ? '' : 's'}`;
}

function shownCommit(suspect: SuspectView, repository: string | null): object {
  const { files: _files, ...commit } = suspect;
  return { ...commit, short: commit.id.slice(0, 10), url: buildCommitUrl(repository, commit.id) };
}
