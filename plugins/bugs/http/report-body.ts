import { getVersionName } from '../../../lib/versions.js';
import type { ErrorLevel, ItemType, Report, Severity } from '../../../ports/domain/bugs.js';
import type { BugCaller } from '../caller.js';
import { checkAboveFirstSeen, parseBuildName } from '../item/build-names.js';
import { parseSeverity } from '../item/severity.js';

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

/** Longer texts are truncated and named in `truncated`. */
export const MAX_TEXT_LENGTHS = { description: 65_536, error_message: 8192, stack_trace: 65_536 } as const;

const toTextOrNull = (text: string | null | undefined): string | null => (text?.trim() ? text : null);

/**
 * @throws ServiceError validation_failed for a `resolved_in_build` that names neither a version nor
 *   a build, or one in which the error was seen (contract 20, transitions)
 */
export function parseReportBody(body: ReportBody, caller: BugCaller): { report: Report; truncated: string[] } {
  const truncated: string[] = [];
  const cut = (field: keyof typeof MAX_TEXT_LENGTHS): string | null => {
    const text = toTextOrNull(body[field]);
    if (text === null || text.length <= MAX_TEXT_LENGTHS[field]) return text;
    truncated.push(field);
    return text.slice(0, MAX_TEXT_LENGTHS[field]);
  };
  const fix = toTextOrNull(body.resolved_in_build);
  const resolved_in_build = fix === null ? null : parseBuildName(fix);
  const given_version = toTextOrNull(body.app_version) ?? toTextOrNull(body.build) ?? toTextOrNull(body.release);
  const app_version = given_version === null ? null : toTextOrNull(getVersionName(given_version));
  if (body.type !== 'feature' && resolved_in_build !== null) checkAboveFirstSeen(resolved_in_build, app_version);
  const report: Report = {
    type: body.type ?? 'bug',
    project: body.project,
    title: body.title.trim(),
    severity: parseSeverity(body) ?? 'medium',
    source: caller.kind === 'session' ? 'ui' : 'agent',
    reported_by: caller.id,
    reporter: caller.name,
    description: cut('description'),
    error_message: cut('error_message'),
    stack_trace: cut('stack_trace'),
    exception_class: toTextOrNull(body.exception_class),
    error_level: body.error_level ?? null,
    environment: toTextOrNull(body.environment),
    client_ref: body.client_ref ?? null,
    repo_url: toTextOrNull(body.repo_url),
    commit_sha: toTextOrNull(body.commit_sha),
    pr_url: toTextOrNull(body.pr_url),
    file_path: toTextOrNull(body.file_path),
    line_no: body.line_no ?? null,
    push_id: toTextOrNull(body.push_id),
    target_agent: toTextOrNull(body.target_agent),
    tags: body.tags ?? [],
    app_version,
    resolved_in_build,
  };
  return { report, truncated };
}
