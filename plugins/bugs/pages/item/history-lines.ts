import { getLinkKindLabel } from './links-section.js';
import type { Item } from '../../../../ports/domain/bugs.js';
import type { Json } from '../../../../ports/store/index.js';

export interface HistoryEntry {
  id: string;
  at: string;
  action: string;
  actor: string;
  /** That acted with the actor's token; missing in old entries. */
  agent?: string;
  data: { [key: string]: Json };
}

export interface HistoryLine {
  at: string;
  /** Null when the sentence names the actor. */
  actor: string | null;
  icon: string;
  text: string;
  reason: string | null;
  ref?: string;
  url?: string;
  /** RFC 3339, after the text. */
  until?: string;
}

const toText = (value: Json | undefined): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '';
const toSpacedText = (value: Json | undefined): string =>
  value === 'wont_fix' ? 'won’t fix' : toText(value).replaceAll('_', ' ');

const ICONS: Record<string, string> = {
  open: 'refresh',
  in_progress: 'robot',
  needs_info: 'inbox',
  resolved: 'check',
  closed: 'check',
  wont_fix: 'close',
  duplicate: 'merge',
};

const REASON_TEXTS: Record<string, string> = {
  'lease expired': 'lease expired',
  released: 'unassigned',
  release: 'release published',
  merged: 'fix merged to the default branch',
  'pull request closed': 'pull request closed without merging',
  'pull request reopened': 'pull request reopened',
  regression: 'regressed',
  rate: 'high event rate',
  error_level: 'higher error level reported',
};

function formatReason(data: HistoryEntry['data']): string {
  const why = toText(data['why']);
  return REASON_TEXTS[why] === undefined ? '' : `: ${REASON_TEXTS[why]}`;
}

const STATUS_VERBS: Record<string, string> = {
  resolved: 'resolved this',
  closed: 'closed this',
  needs_info: 'marked this as needs info',
  wont_fix: 'marked this as won’t fix',
  duplicate: 'marked this as a duplicate',
};

function formatStatus({ data }: HistoryEntry): string {
  const [from, to] = [toText(data['from']), toText(data['to'])];
  const reopened = from === 'in_progress' ? 'returned this to the queue' : 'reopened this';
  const did = STATUS_VERBS[to] ?? (to === 'open' ? reopened : `changed the status to ${toSpacedText(to)}`);
  const build = to === 'resolved' || to === 'closed' ? toText(data['build']) : '';
  return `${did}${build === '' ? '' : ` in ${build}`}${formatReason(data)}`;
}

const formatClaim = ({ data }: HistoryEntry): string => `claimed this${data['by'] === 'next' ? ' from the queue' : ''}`;

function formatProgress({ data }: HistoryEntry): string {
  const note = toText(data['note']);
  const tokens = typeof data['tokens'] === 'number' ? ` (${data['tokens'].toLocaleString('en')} tokens)` : '';
  return `${note === '' ? 'renewed the lease' : `says: ${note}`}${tokens}`;
}

/** The agent that claimed the item by the name of its token, for entries without an agent. */
export type ClaimingAgents = ReadonlyMap<string, string>;

export const listClaimingAgents = (entries: readonly HistoryEntry[]): ClaimingAgents =>
  new Map(
    entries
      .toReversed()
      .flatMap(({ action, actor, data }): [string, string][] =>
        action === 'claimed' && toText(data['agent']) !== '' ? [[actor, toText(data['agent'])]] : [],
      ),
  );

const PLUGIN_ACTOR_PATTERN = /^(?:(.+) \()?plugin:([\w-]+)\)?$/;

/**
 * Formats who acted: the agent in place of its token, a user without the plugin that acted for it.
 */
export function formatActor(actor: string, agents: ClaimingAgents): string {
  const [, user, plugin] = PLUGIN_ACTOR_PATTERN.exec(actor) ?? [];
  if (plugin !== undefined) return user ?? plugin.charAt(0).toUpperCase() + plugin.slice(1);
  return actor === 'system' ? 'AOS' : (agents.get(actor) ?? actor);
}

const FIELD_LABELS: Record<string, string> = {
  title: 'the title',
  type: 'the type',
  description: 'the description',
  assignee: 'the assignee',
  target_agent: 'the reserved agent',
  resolved_in_build: 'the fixed version',
  fix_commit: 'the fix commit',
  commit_sha: 'the commit',
  pr_url: 'the pull request',
  repo_url: 'the repository',
  file_path: 'the file',
  line_no: 'the line',
  push_id: 'the push',
  tags: 'the tags',
  environment: 'the environment',
  duplicate_of: 'the original issue',
};

let listFormatter: Intl.ListFormat | undefined;
const joinNames = (names: string[]): string =>
  (listFormatter ??= new Intl.ListFormat('en-GB', { type: 'conjunction' })).format(names);

function formatEdit({ data: { fields, changes } }: HistoryEntry): string {
  const names = (Array.isArray(fields) ? fields : []).map(
    (field) => FIELD_LABELS[toText(field)] ?? toSpacedText(field),
  );
  const [only, ...more] = Array.isArray(changes) ? changes : [];
  const assigned = more.length === 0 && isObject(only) && only['field'] === 'assignee' ? only : null;
  if (assigned === null || names.length > 1) return `changed ${joinNames(names)}`;
  const to = toText(assigned['to']);
  return to === '' ? `unassigned ${toText(assigned['from'])}` : `assigned this to ${to}`;
}

const isObject = (value: Json | undefined): value is { [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const SOURCE_LABELS: Record<Item['source'], string> = {
  agent: 'An agent',
  app: 'An application',
  ui: 'A user',
  sdk: 'An SDK',
};

const CREATION_SENTENCES: Record<Item['source'], string> = {
  agent: 'Reported by an agent',
  app: 'First event received',
  ui: 'Created by a user',
  sdk: 'First event received',
};

/** Old entries name a token id as the actor. */
function buildCreatedLine({ at, data }: HistoryEntry): HistoryLine {
  const source = toText(data['source']);
  const text = Object.hasOwn(CREATION_SENTENCES, source) ? CREATION_SENTENCES[source as Item['source']] : 'Created';
  return { at, actor: null, icon: 'plus', text, reason: null };
}

function formatDifference(data: HistoryEntry['data']): string {
  const values = (Array.isArray(data['values']) ? data['values'] : []).map(toText).join(' or ');
  return values === '' ? '' : ` by ${toSpacedText(data['field'])} ${values}`;
}

function formatForgeLink({ data }: HistoryEntry): string {
  const commit = toText(data['commit']).slice(0, 12);
  const what = data['kind'] === 'commit' ? `commit ${commit}` : 'a pull request';
  const title = toText(data['title']);
  return `mentioned this in ${what}, ${toText(data['state'])}${title === '' ? '' : `: ${title}`}`;
}

const formatItemLink = ({ data }: HistoryEntry): string =>
  `${getLinkKindLabel(toText(data['kind']))}${toText(data['ref']) === '' ? ' an issue in another project' : ''}`;

function formatRequest({ data }: HistoryEntry): string {
  const rule = toText(data['rule']);
  return `requested ${toText(data['agent'])}${rule === '' ? '' : ` (rule: ${rule})`}`;
}

const ENTRY_FORMATTERS: Record<string, [icon: string, (entry: HistoryEntry) => string]> = {
  claimed: ['robot', formatClaim],
  reclaimed: ['robot', () => 'reclaimed this with a new token'],
  renewed: ['clock', formatProgress],
  commented: ['comment', () => 'commented'],
  severity: [
    'flag',
    ({ data }) => `set severity from ${toText(data['from'])} to ${toText(data['to'])}${formatReason(data)}`,
  ],
  'severity locked': ['lock', () => 'locked the severity'],
  'severity unlocked': ['unlock', () => 'unlocked the severity'],
  edited: ['edit', formatEdit],
  forced: ['bolt', ({ data }) => `overrode the lease of ${toText(data['agent']) || 'an agent'}`],
  held: ['lock', () => 'paused agents'],
  'hold lifted': ['unlock', () => 'resumed agents'],
  muted: ['mute', ({ data }) => (toText(data['until']) === '' ? 'muted this by an ignore rule' : 'muted this until')],
  unmuted: ['eye', () => 'unmuted this'],
  merged: ['merge', () => 'merged into this:'],
  split: ['copy', () => 'split off:'],
  split_off: ['copy', ({ data }) => `split off ${toText(data['occurrences'])} events${formatDifference(data)} into`],
  split_from: ['copy', () => 'split this off from'],
  linked: ['merge', formatForgeLink],
  'link added': ['link', (entry) => `added a link: ${formatItemLink(entry)}`],
  'link removed': ['link', (entry) => `removed the link: ${formatItemLink(entry)}`],
  blocked: ['lock', () => 'marked this as blocked'],
  unblocked: ['unlock', () => 'unblocked this'],
  'agent requested': ['robot', formatRequest],
  'pull request merged': ['merge', () => 'merged its pull request'],
  'pull request closed': ['history', () => 'closed its pull request without merging'],
};

const NO_AGENTS: ClaimingAgents = new Map();

export function toHistoryLine(entry: HistoryEntry, agents: ClaimingAgents = NO_AGENTS): HistoryLine {
  const { at, action, data } = entry;
  if (action === 'created') return buildCreatedLine(entry);
  const actor = getAgent(entry) ?? formatActor(entry.actor, agents);
  const reason = toText(data['reason']) || null;
  if (action === 'status')
    return { at, actor, icon: ICONS[toText(data['to'])] ?? 'history', text: formatStatus(entry), reason };
  const [icon, say] = ENTRY_FORMATTERS[action] ?? ['history', () => toSpacedText(action)];
  const ref = toText(data['ref']);
  const url = action === 'linked' ? toText(data['url']) : '';
  const until = action === 'muted' ? toText(data['until']) : '';
  const more = { ...(ref !== '' && { ref }), ...(url !== '' && { url }), ...(until !== '' && { until }) };
  return { at, actor, icon, text: say(entry), reason, ...more };
}

/** A claim names its agent itself. */
const getAgent = ({ action, agent, data }: HistoryEntry): string | undefined =>
  agent ?? (action === 'claimed' && toText(data['agent']) !== '' ? toText(data['agent']) : undefined);
