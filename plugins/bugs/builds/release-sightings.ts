import { inject, injectable } from '../../../kernel/contract.js';
import type { Item } from '../../../ports/domain/bugs.js';
import { isoOf } from '../../../lib/time.js';
import { DEPS, type BugDeps } from '../deps.js';
import { KeptHistory } from './build-history.js';
import { KnownBuilds, type Publish } from './known-builds.js';
import { listTracePaths, rankSuspectCommits, type SuspectCommit } from './suspects.js';

export interface Sighting extends Publish {
  /** Seconds since the publish; negative before it. */
  seconds_after: number;
}

export interface SuspectView extends SuspectCommit {
  untrusted_fields: string[];
}

export interface ItemTimeline {
  first_release: Sighting | null;
  regressed_release: Sighting | null;
  /**
   * From the version that introduced the error (the latest regression, else the first report),
   * suspects first.
   */
  suspect_commits: SuspectView[];
}

const SHOWN = 10;
const OUTSIDE = ['author_name', 'message', 'files', 'touched'];

type Seen = Pick<
  Item,
  'project' | 'first_build' | 'first_seen_at' | 'regressed_in_build' | 'regressed_at' | 'file_path' | 'stack_trace'
>;

const suspectView = (commit: Omit<SuspectView, 'untrusted_fields'>): SuspectView => ({
  ...commit,
  untrusted_fields: OUTSIDE,
});

@injectable()
export class ReleaseSightings {
  constructor(
    @inject(DEPS) private readonly deps: Pick<BugDeps, 'clock'>,
    @inject(KnownBuilds) private readonly known: KnownBuilds,
    @inject(KeptHistory) private readonly history: KeptHistory,
  ) {}

  async of(item: Seen): Promise<ItemTimeline> {
    const { project, first_build, first_seen_at, regressed_in_build, regressed_at } = item;
    const [first_release, regressed_release] = await Promise.all([
      this.#sighting(project, first_build, first_seen_at),
      this.#sighting(project, regressed_in_build, regressed_at),
    ]);
    const brought = regressed_in_build === null ? first_release : regressed_release;
    // Commits may be known for a version that was published elsewhere.
    const version = brought?.version ?? regressed_in_build ?? first_build;
    return { first_release, regressed_release, suspect_commits: await this.#suspects(item, version) };
  }

  publishes(project: string, ms: number): Promise<Publish[]> {
    return this.known.since(project, isoOf(this.deps.clock.now() - ms));
  }

  async #sighting(project: string, version: string | null, at: string | null): Promise<Sighting | null> {
    if (version === null || version.trim() === '' || at === null) return null;
    const found = await this.known.publishOf(project, version);
    if (found === null) return null;
    return { ...found, seconds_after: Math.round((Date.parse(at) - Date.parse(found.published_at)) / 1000) };
  }

  async #suspects({ project, file_path, stack_trace }: Seen, version: string | null): Promise<SuspectView[]> {
    const told = version === null || version.trim() === '' ? null : await this.history.of(project, version);
    const suspects = rankSuspectCommits(told?.commits ?? [], listTracePaths(file_path, stack_trace)).slice(0, SHOWN);
    return suspects.map(suspectView);
  }
}
