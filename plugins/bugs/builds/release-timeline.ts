import { inject, injectable } from '../../../kernel/contract/index.js';
import type { Item } from '../../../ports/domain/bugs.js';
import { toIsoString } from '../../../lib/time.js';
import { DEPS } from '../deps.js';
import { CommitHistoryRepository } from './commit-history.js';
import { PublishedBuildRepository, type PublishedVersion } from './published-builds.js';
import { listTracePaths, rankSuspectCommits, type SuspectCommit } from './suspect-commits.js';
import type { Clock } from '../../../ports/clock.js';

export interface ReleaseSighting extends PublishedVersion {
  /** Negative before it. */
  seconds_after: number;
}

export interface SuspectView extends SuspectCommit {
  untrusted_fields: string[];
}

export interface ItemTimeline {
  first_release: ReleaseSighting | null;
  regressed_release: ReleaseSighting | null;
  /** Since the version that introduced the error, suspects first. */
  suspect_commits: SuspectView[];
}

const MAX_SHOWN_COMMITS = 10;
const UNTRUSTED_COMMIT_FIELDS = ['author_name', 'message', 'files', 'touched'];

type SightedItem = Pick<
  Item,
  'project' | 'first_build' | 'first_seen_at' | 'regressed_in_build' | 'regressed_at' | 'file_path' | 'stack_trace'
>;

const toSuspectView = (commit: Omit<SuspectView, 'untrusted_fields'>): SuspectView => ({
  ...commit,
  untrusted_fields: UNTRUSTED_COMMIT_FIELDS,
});

@injectable()
export class ReleaseTimelineService {
  constructor(
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(PublishedBuildRepository) private readonly known: PublishedBuildRepository,
    @inject(CommitHistoryRepository) private readonly history: CommitHistoryRepository,
  ) {}

  async buildTimeline(item: SightedItem): Promise<ItemTimeline> {
    const { project, first_build, first_seen_at, regressed_in_build, regressed_at } = item;
    const [first_release, regressed_release] = await Promise.all([
      this.#findSighting(project, first_build, first_seen_at),
      this.#findSighting(project, regressed_in_build, regressed_at),
    ]);
    const brought = regressed_in_build === null ? first_release : regressed_release;
    // The version may have been published elsewhere.
    const version = brought?.version ?? regressed_in_build ?? first_build;
    return { first_release, regressed_release, suspect_commits: await this.#listSuspects(item, version) };
  }

  listRecentPublishes(project: string, ms: number): Promise<PublishedVersion[]> {
    return this.known.listPublishedSince(project, toIsoString(this.clock.now() - ms));
  }

  async #findSighting(project: string, version: string | null, at: string | null): Promise<ReleaseSighting | null> {
    if (version === null || version.trim() === '' || at === null) return null;
    const found = await this.known.findPublishedVersion(project, version);
    if (found === null) return null;
    return { ...found, seconds_after: Math.round((Date.parse(at) - Date.parse(found.published_at)) / 1000) };
  }

  async #listSuspects(
    { project, file_path, stack_trace }: SightedItem,
    version: string | null,
  ): Promise<SuspectView[]> {
    const buildCommits = version === null || version.trim() === '' ? null : await this.history.find(project, version);
    const suspects = rankSuspectCommits(buildCommits?.commits ?? [], listTracePaths(file_path, stack_trace)).slice(
      0,
      MAX_SHOWN_COMMITS,
    );
    return suspects.map(toSuspectView);
  }
}
