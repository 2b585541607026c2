import type { ItemStatus, Severity } from '../../../ports/domain/bugs.js';
import type { PullRequestState } from '../../../ports/domain/forge-changes.js';

export interface ItemEdit {
  title?: string;
  type?: 'bug' | 'feature';
  /** Stops the work, with `reason`, or resumes it. */
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
  assignee?: string | null;
  comment?: string | null;
  claim_token?: string;
  force?: boolean;
}
