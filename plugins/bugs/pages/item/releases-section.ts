/** Commit texts are untrusted. */
import type { ReleaseSighting, SuspectView } from '../../builds/release-timeline.js';
import { buildCommitUrl } from '../../lists/code-url.js';
import type { ItemSectionInput } from './section.js';

export async function buildReleasesSection({ page, detail, item }: ItemSectionInput): Promise<object> {
  const { first_release, regressed_release, suspect_commits } = detail;
  const sighting = regressed_release ?? first_release;
  return {
    started: sighting === null ? null : await buildStartView(page, item, sighting),
    started_label: regressed_release === null ? 'Started with' : 'Regressed in',
    suspects: suspect_commits.map((commit) => toCommitView(commit, item.repo_url)),
    // The others touch nothing in the trace.
    has_suspects: suspect_commits.some(({ touched }) => touched !== null),
  };
}

async function buildStartView(
  page: ItemSectionInput['page'],
  { project }: ItemSectionInput['item'],
  { version, published_at, seconds_after }: ReleaseSighting,
): Promise<object> {
  const [commits, previous, ...links] = await Promise.all([
    page.services.history.find(project, version),
    page.services.publishedBuilds.findPreviousVersion(project, published_at),
    ...page.releases().map((provider) => provider.findLinks(project, version, published_at)),
  ]);
  const { href = null, halt_href = null } = links.find((link) => link !== null) ?? {};
  const compare = commits === null || commits.commits.length === 0 ? null : `${previous ?? '…'}…${version}`;
  return { version, when: formatDistance(seconds_after), href, halt_href, compare };
}

const MAX_PUBLISH_DISTANCE_SECONDS = 60;

const formatDistance = (seconds: number): string =>
  Math.abs(seconds) < MAX_PUBLISH_DISTANCE_SECONDS
    ? 'at its publish'
    : `${formatDuration(Math.abs(seconds))} ${seconds < 0 ? 'before' : 'after'} its publish`;

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
