/** Commits and pull requests of forges, as the bug tracker is told of them and asks for them (contract 20, forges). */
import { extensionPoint } from '../token.js';

/** Of a pull or merge request. */
export type PullRequestState = 'draft' | 'open' | 'merged' | 'closed';

/** A commit, or a pull or merge request, that names an item. Every text in it is from outside. */
export interface ForgeChange {
  /** Names it among those of the plugin on the item, at most 1,000 characters: the same key again changes nothing. */
  key: string;
  kind: 'commit' | 'pull_request';
  /** http or https, at most 500 characters. */
  url: string | null;
  /** In full; of a pull request the commit that merged it. */
  commit: string | null;
  /** At most 200 characters. */
  title: string;
  /** `pushed`: a commit that is not on the default branch. */
  state: PullRequestState | 'pushed';
  /** It is on the default branch and says that it fixes the item, which is resolved by it. */
  fixes: boolean;
  /** Its author, at most 100 characters; history then shows `ada (plugin:forges)`. */
  actor: string | null;
}

/** `commented`: an agent holds the item, so it has a comment instead of another status. */
export type LinkOutcome = 'linked' | 'resolved' | 'commented' | 'unchanged';

/** `reopened`: the pull request that the item waited for was closed without a merge. */
export type ForgeOutcome = LinkOutcome | 'reopened';

/** What a forge said last of a pull or merge request. Texts in it are from outside. */
export interface PullRequest {
  url: string;
  state: PullRequestState;
  title: string;
  author: string | null;
  /** The commit that merged it. */
  commit: string | null;
  /** When it changed, RFC 3339. */
  at: string;
}

/** The same with the time at which this service received it, RFC 3339. */
export interface ReceivedPullRequest extends PullRequest {
  heard_at: string;
}

/** Knows pull requests that an item may name in its `pr_url`. */
export interface PullRequests {
  /** Null: nothing was heard of it. */
  find(project: string, url: string): Promise<ReceivedPullRequest | null>;
}

/** The first that knows one answers. */
export const PULL_REQUESTS = extensionPoint<PullRequests>('bugs.pull_requests');
