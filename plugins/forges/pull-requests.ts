/** By URL, so that items show the state whichever came first. */
import { hash } from 'node:crypto';
import { collection, inject, injectable, PORT } from '../../kernel/contract/index.js';
import { toIsoString } from '../../lib/time.js';
import type { PullRequest, PullRequests, ReceivedPullRequest } from '../../ports/domain/forge-changes.js';
import type { Clock } from '../../ports/clock.js';
import { StoreConflict, type Collection, type Doc } from '../../ports/store/index.js';
import type { DeliveredChange } from './payloads/change.js';
import { getPullRequestPage } from '../../lib/http/pull-request-page.js';

/** The document id is a hash of project and URL. */
export interface StoredPullRequest extends Doc, PullRequest {
  project: string;
  heard_at: string;
}

/** Older ones are not needed; a forge reports them again when they change. */
const RETENTION_MS = 400 * 24 * 3_600_000;

const getPullRequestId = (project: string, url: string): string =>
  hash('sha256', `${project}\u001f${getPullRequestPage(url)}`).slice(0, 40);

@injectable()
export class PullRequestStore implements PullRequests {
  constructor(
    @inject(collection<StoredPullRequest>('pull_requests')) private readonly rows: Collection<StoredPullRequest>,
    @inject(PORT.clock) private readonly clock: Clock,
  ) {}

  async find(project: string, url: string): Promise<ReceivedPullRequest | null> {
    const found = await this.rows.get(getPullRequestId(project, url));
    if (found === null) return null;
    const { state, title, author, commit, at, heard_at } = found;
    return { url: found.url, state, title, author, commit, at, heard_at };
  }

  /** Ignores deliveries older than the stored state; merged requests stay merged. */
  async record(project: string, change: DeliveredChange): Promise<void> {
    const { url, state, title, author, commit } = change;
    if (change.kind !== 'pull_request' || url === null || state === 'pushed') return;
    const heard_at = this.clock.iso();
    const at = change.at ?? heard_at;
    const pullRequestFields = { state, title, author, commit, at, heard_at };
    const id = getPullRequestId(project, url);
    try {
      await this.rows.insert({ id, project, url, ...pullRequestFields });
    } catch (error) {
      if (!(error instanceof StoreConflict)) throw error;
      const newer = state === 'merged' ? {} : { at: { lte: at }, state: { ne: 'merged' } };
      await this.rows.change({ id, ...newer }, { set: pullRequestFields });
    }
  }

  async clear(project: string): Promise<void> {
    await this.rows.remove({ project });
  }

  async removeOld(): Promise<void> {
    await this.rows.remove({ heard_at: { lt: toIsoString(this.clock.now() - RETENTION_MS) } });
  }
}
