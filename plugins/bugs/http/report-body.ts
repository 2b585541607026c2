import { versionName } from '../../../lib/versions.js';
import type { ErrorLevel, ItemType, Report, Severity } from '../../../ports/domain/bugs.js';
import type { BugCaller } from '../caller.js';
import { checkAbove, parseBuildName } from '../item/build-names.js';
import { readSeverity } from '../item/severity.js';

export interface ReportBody {
  project: string;
  title: string;
  type?: ItemType;
  description?: string | null;
  error_message?: string | null;
  stack_trace?: string | null;
  exception_class?: string | null;
  error_level?: ErrorLevel | null;
  severity?: Severity;
  urgency?: Severity;
  environment?: string | null;
  client_ref?: string | null;
  repo_url?: string | null;
  commit_sha?: string | null;
  pr_url?: string | null;
  file_path?: string | null;
  line_no?: number | null;
  push_id?: string | null;
  target_agent?: string | null;
  tags?: string[] | null;
  app_version?: string | null;
  build?: string | null;
  release?: string | null;
  resolved_in_build?: string | null;
}

/**
 * In characters. A longer text is truncated and named in `truncated`, so that the report is not
 * lost.
 */
export const LIMITS = { description: 65_536, error_message: 8192, stack_trace: 65_536 } as const;

const some = (text: string | null | undefined): string | null => (text?.trim() ? text : null);

/**
 * Converts a body of `POST /report` to a report (contract 20, endpoints).
 * @throws ServiceError validation_failed for a `resolved_in_build` that names neither a version nor
 *   a build, or one in which the error was seen (contract 20, transitions)
 */
export function parseReportBody(body: ReportBody, caller: BugCaller): { report: Report; truncated: string[] } {
  const truncated: string[] = [];
  const cut = (field: keyof typeof LIMITS): string | null => {
    const text = some(body[field]);
    if (text === null || text.length <= LIMITS[field]) return text;
    truncated.push(field);
    return text.slice(0, LIMITS[field]);
  };
  const fix = some(body.resolved_in_build);
  const resolved_in_build = fix === null ? null : parseBuildName(fix);
  const given_version = some(body.app_version) ?? some(body.build) ?? some(body.release);
  const app_version = given_version === null ? null : some(versionName(given_version));
  if (body.type !== 'feature' && resolved_in_build !== null) checkAbove(resolved_in_build, app_version);
  const report: Report = {
    type: body.type ?? 'bug',
    project: body.project,
    title: body.title.trim(),
    severity: readSeverity(body) ?? 'medium',
    source: caller.kind === 'session' ? 'ui' : 'agent',
    reported_by: caller.id,
    reporter: caller.name,
    description: cut('description'),
    error_message: cut('error_message'),
    stack_trace: cut('stack_trace'),
    exception_class: some(body.exception_class),
    error_level: body.error_level ?? null,
    environment: some(body.environment),
    client_ref: body.client_ref ?? null,
    repo_url: some(body.repo_url),
    commit_sha: some(body.commit_sha),
    pr_url: some(body.pr_url),
    file_path: some(body.file_path),
    line_no: body.line_no ?? null,
    push_id: some(body.push_id),
    target_agent: some(body.target_agent),
    tags: body.tags ?? [],
    app_version,
    resolved_in_build,
  };
  return { report, truncated };
}
