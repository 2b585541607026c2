import type { PullRequestState } from '../../../ports/domain/forge-changes.js';

export interface DeliveredChange {
  kind: 'commit' | 'pull_request';
  commit: string | null;
  /** http or https, at most 500 characters; null without a valid URL. */
  url: string | null;
  /** First line of the message, or the title; at most 200 characters. */
  title: string;
  text: string;
  /** The name at the forge, at most 80 characters. */
  author: string | null;
  /** `pushed` is a commit outside the default branch. */
  state: PullRequestState | 'pushed';
  /** Whether it is on the default branch, so that its fixes are effective. */
  landed: boolean;
  /** Time of the change according to the forge, RFC 3339, or null. */
  at: string | null;
}
