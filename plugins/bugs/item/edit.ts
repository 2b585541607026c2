/** A change of an item as a caller asks for it (contract 20, endpoints: PATCH). */
import type { ItemStatus, Severity } from '../../../ports/domain/bugs.js';
import type { PullRequestState } from '../../../ports/domain/forge-changes.js';

export interface Edit {
  title?: string;
  /** Not for errors. */
  type?: 'bug' | 'feature';
  /** A person stops the work on the item, with `reason`, or lets it go on. */
  hold?: boolean;
  description?: string | null;
  status?: ItemStatus;
  reason?: string | null;
  duplicate_of?: string | null;
  severity?: Severity;
  urgency?: Severity;
  severity_locked?: boolean;
  resolved_in_build?: string | null;
  tags?: string[];
  target_agent?: string | null;
  environment?: string | null;
  repo_url?: string | null;
  commit_sha?: string | null;
  file_path?: string | null;
  line_no?: number | null;
  push_id?: string | null;
  fix_commit?: string | null;
  pr_url?: string | null;
  pr_state?: PullRequestState;
  /** Name of an account. */
  assignee?: string | null;
  /** Stored with the change. */
  comment?: string | null;
  claim_token?: string;
  force?: boolean;
}
