/** Reports bugs and feature requests from an application (contract 20, endpoints). */
import type { ClientContext } from './context.js';
import { createRandomId } from './runtime.js';
import { evaluateResponse, toFailureFields, type ServiceProblem } from './verdict.js';

/** Fields of contract 20; `project` is set by the client. */
export interface BugReport {
  title: string;
  type?: 'bug' | 'feature';
  description?: string;
  error_message?: string;
  stack_trace?: string;
  exception_class?: string;
  error_level?: 'fatal' | 'error' | 'warning';
  severity?: 'critical' | 'high' | 'medium' | 'low';
  environment?: string;
  /** Fields of contract 20 but `project`. */
  client_ref?: string;
  repo_url?: string;
  commit_sha?: string;
  file_path?: string;
  line_no?: number;
  target_agent?: string;
  tags?: readonly string[];
  app_version?: string;
}

export interface BugReported {
  reported: boolean;
  /** Use it to repeat the report after a transient failure. */
  clientRef: string;
  isTransient: boolean;
  unauthorized: boolean;
  id?: string;
  ref?: string;
  created?: boolean;
  deduplicated?: boolean;
  error?: ServiceProblem;
}

export async function reportBug(context: ClientContext, report: BugReport, signal?: AbortSignal): Promise<BugReported> {
  const { project, token } = context;
  const clientRef = report.client_ref ?? createRandomId();
  const body = { ...report, project, client_ref: clientRef };
  const verdict = evaluateResponse(await context.ask('POST', '/api/bugtracker/v1/report', { token, body, signal }));
  if (verdict.kind !== 'answer') return { reported: false, clientRef, ...toFailureFields(verdict) };
  const { id, ref, created, deduplicated } = verdict.body as Partial<BugReported>;
  return { reported: true, clientRef, isTransient: false, unauthorized: false, id, ref, created, deduplicated };
}
