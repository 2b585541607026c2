import type { Item } from '../../../../ports/domain/bugs.js';
import type { PullRequest } from '../../../../ports/domain/forge-changes.js';
import type { ItemSectionInput } from './section.js';
import { SOURCE_LABELS } from './history-lines.js';

export async function buildFactsSection({ page, item, detail }: ItemSectionInput): Promise<object> {
  const [project, known] = await Promise.all([
    page.deps.projects.get(item.project),
    Promise.all(page.facts().map((one) => one.listFacts(item))),
  ]);
  const project_name = project?.name ?? item.project;
  return {
    project_name,
    code_url: detail.code_url,
    facts: buildFacts(item, project_name, detail.pull_request),
    run_facts: known.flat(),
  };
}

const isFilled = (fact: { value?: unknown; url?: unknown; at?: unknown; badge?: unknown }): boolean =>
  [fact.value, fact.url, fact.at, fact.badge].some((v) => v !== undefined && v !== null && v !== '');

export function buildFacts(item: Item, project: string, pull: PullRequest | null): object[] {
  return [
    { label: 'Project', value: project, href: `/projects/${item.project}` },
    { label: 'Environment', value: item.environment },
    { label: 'Regressed', at: item.regressed_at },
    { label: 'Regressed in version', value: item.regressed_in_build, mono: true },
    { label: 'Late events from older versions', value: item.late_count > 0 ? item.late_count : null },
    { label: 'Messages merged by flood rule', value: item.flooded_count > 0 ? item.flooded_count : null },
    { label: 'File', value: formatLocation(item), mono: true },
    { label: 'Commit', value: item.commit_sha, mono: true },
    { label: 'Fix commit', value: item.fix_commit, mono: true },
    { label: 'Pull request', url: item.pr_url },
    { label: 'Pull request status', value: pull && formatPullRequestState(pull) },
    { label: 'Review', value: item.review === 'open' ? 'Awaiting merge' : null },
    { label: 'Push', value: item.push_id, mono: true },
    { label: 'Repository', url: item.repo_url },
    // A form's idempotency reference is useless to users.
    { label: 'Client reference', value: item.client_ref?.startsWith('form-') ? null : item.client_ref, mono: true },
    { label: 'Claims', value: item.claim_count > 0 ? formatTimes(item.claim_count) : null },
    { label: 'Reopened', at: item.reopened_at },
    { label: 'Resolved', at: item.resolved_at },
    { label: 'Closed', at: item.closed_at },
    { label: 'Reported by', value: SOURCE_LABELS[item.source].toLowerCase() },
  ].filter(isFilled);
}

const formatPullRequestState = ({ state, author }: PullRequest): string =>
  author === null ? state : `${state}, by ${author}`;

const formatTimes = (n: number): string => (n === 1 ? 'once' : `${n} times`);

function formatLocation(item: Item): string | null {
  if (item.file_path === null || item.file_path === '') return null;
  return item.line_no === null ? item.file_path : `${item.file_path}:${item.line_no}`;
}

export function toLeaseView(item: Item, now: number): object | null {
  if (item.claim === null) return null;
  const { claim } = item;
  const left = Math.max(0, Math.round((Date.parse(claim.expires_at) - now) / 1000));
  const whole = Math.max(left, Math.round((Date.parse(claim.expires_at) - Date.parse(claim.claimed_at)) / 1000));
  return { ...claim, left, whole };
}

const CLAIMABLE_STATUSES = new Set<Item['status']>(['open', 'needs_info']);

export function buildAgentCommands(item: Item, baseUrl: string): { label: string; command: string }[] {
  const url = `${baseUrl.replace(/\/$/, '')}/api/bugtracker/v1/bugs/${encodeURIComponent(item.ref)}`;
  const token = '-H "Authorization: Bearer $SVC_TOKEN"';
  const read = { label: 'Read as an agent', command: `curl -s ${url} ${token}` };
  if (!CLAIMABLE_STATUSES.has(item.status)) return [read];
  const agent = JSON.stringify({ agent: item.target_agent ?? 'my-agent' }).replaceAll("'", String.raw`\u0027`);
  const claim = `curl -s -X POST ${url}/claim ${token} \\\n  -H 'Content-Type: application/json' -d '${agent}'`;
  return [{ label: 'Claim for an agent', command: claim }, read];
}
