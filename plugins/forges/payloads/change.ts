/** What all forges tell of, in one shape: a commit that was pushed, or a pull or merge request. */
import type { PullRequestState } from '../../../ports/domain/forge-changes.js';

export interface Change {
  kind: 'commit' | 'pull_request';
  /** The commit, or the one that the merge made; null: there is none yet. */
  commit: string | null;
  /** http or https, at most 500 characters; null: the forge named no such address. */
  url: string | null;
  /** First line of the message, or the title; at most 200 characters. */
  title: string;
  /** All of it, for refs and keywords. */
  text: string;
  /** The name at the forge, at most 80 characters. */
  author: string | null;
  /** `pushed` is a commit that is not on the default branch. */
  state: PullRequestState | 'pushed';
  /** It is on the default branch: what it says it fixes is fixed. */
  landed: boolean;
  /** When the forge says that it changed, RFC 3339; null: it does not say. */
  at: string | null;
}
