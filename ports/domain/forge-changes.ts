import { extensionPoint } from '../token.js';

export type PullRequestState = 'draft' | 'open' | 'merged' | 'closed';

/** A commit or pull request that names an item. All texts are external input. */
export interface ForgeChange {
  /** Idempotency key per item, at most 1,000 characters. */
  key: string;
  kind: 'commit' | 'pull_request';
  /** http or https, at most 500 characters. */
  url: string | null;
  /** The merge commit of a pull request. */
  commit: string | null;
  /** At most 200 characters. */
  title: string;
  /** `pushed`: a commit outside the default branch. */
  state: PullRequestState | 'pushed';
  /** It is on the default branch and declares that it fixes the item. */
  fixes: boolean;
  actor: string | null;
}

/** `commented`: an agent holds the item. */
export type LinkOutcome = 'linked' | 'resolved' | 'commented' | 'unchanged';

/** `reopened`: the item's pull request was closed unmerged. */
export type ForgeOutcome = LinkOutcome | 'reopened';

/** Latest state of a pull request. Its texts are external input. */
export interface PullRequest {
  url: string;
  state: PullRequestState;
  title: string;
  author: string | null;
  commit: string | null;
  /** Time of the change, RFC 3339. */
  at: string;
}

/** A pull request with its receive time, RFC 3339. */
export interface ReceivedPullRequest extends PullRequest {
  heard_at: string;
}

/** Looks up pull requests of items. */
export interface PullRequests {
  find(project: string, url: string): Promise<ReceivedPullRequest | null>;
}

export const PULL_REQUESTS = extensionPoint<PullRequests>('bugs.pull_requests');
