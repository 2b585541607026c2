/** Commits and pull requests of forges (contract 20, forges). */
import { extensionPoint } from '../token.js';

export type PullRequestState = 'draft' | 'open' | 'merged' | 'closed';

/** A commit or pull request that names an item. All texts are external input. */
export interface ForgeChange {
  /** Idempotency key of the plugin for this item, at most 1,000 characters. */
  key: string;
  kind: 'commit' | 'pull_request';
  /** http or https, at most 500 characters. */
  url: string | null;
  /** Full hash; the merge commit of a pull request. */
  commit: string | null;
  /** At most 200 characters. */
  title: string;
  /** `pushed`: a commit outside the default branch. */
  state: PullRequestState | 'pushed';
  /** It is on the default branch, declares that it fixes the item, and resolves it. */
  fixes: boolean;
  /** Author, at most 100 characters; history shows `ada (plugin:forges)`. */
  actor: string | null;
}

/** `commented`: an agent holds the item, so it got a comment instead of a new status. */
export type LinkOutcome = 'linked' | 'resolved' | 'commented' | 'unchanged';

/** `reopened`: the item's pull request was closed unmerged. */
export type ForgeOutcome = LinkOutcome | 'reopened';

/** Latest state of a pull request. Its texts are external input. */
export interface PullRequest {
  url: string;
  state: PullRequestState;
  title: string;
  author: string | null;
  /** Merge commit. */
  commit: string | null;
  /** Time of the change, RFC 3339. */
  at: string;
}

/** A pull request with the time this service received it, RFC 3339. */
export interface ReceivedPullRequest extends PullRequest {
  heard_at: string;
}

/** Looks up pull requests that an item names in `pr_url`. */
export interface PullRequests {
  /** Returns null when the pull request is unknown. */
  find(project: string, url: string): Promise<ReceivedPullRequest | null>;
}

/** The first result wins. */
export const PULL_REQUESTS = extensionPoint<PullRequests>('bugs.pull_requests');
