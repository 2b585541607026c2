/** Formats an item's history as sentences. An unknown action is shown by its name. */
import { getLinkKindLabel } from './links-section.js';
import type { Item } from '../../../../ports/domain/bugs.js';
import type { Json } from '../../../../ports/store.js';

export interface HistoryEntry {
  id: string;
  at: string;
  action: string;
  actor: string;
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
  'lease expired': 'the lease ran out',
  released: 'given back',
  release: 'its release was published',
  merged: 'its fix is on the default branch',
  'pull request closed': 'its pull request was closed without a merge',
  'pull request reopened': 'its pull request is open again',
  regression: 'it happened again',
  rate: 'so many in one hour',
  error_level: 'a graver error level was reported',
};

function formatReason(data: HistoryEntry['data']): string {
  const why = toText(data['why']);
  return REASON_TEXTS[why] === undefined ? '' : `: ${REASON_TEXTS[why]}`;
}

function formatStatus({ data }: HistoryEntry): string {
  const build = data['to'] === 'resolved' || data['to'] === 'closed' ? toText(data['build']) : '';
  return `moved it from ${toSpacedText(data['from'])} to ${toSpacedText(data['to'])}${build === '' ? '' : `, fixed in ${build}`}${formatReason(data)}`;
}

function formatClaim({ data, actor }: HistoryEntry): string {
  const agent = toText(data['agent']);
  const by = data['by'] === 'next' ? ' from the queue' : '';
  return agent === actor || agent === '' ? `claimed it${by}` : `claimed it${by} as ${agent}`;
}

function formatProgress({ data }: HistoryEntry): string {
  const note = toText(data['note']);
  const tokens = typeof data['tokens'] === 'number' ? ` (${data['tokens'].toLocaleString('en')} tokens)` : '';
  return `${note === '' ? 'renewed the lease' : `says: ${note}`}${tokens}`;
}

const FIELD_LABELS: Record<string, string> = {
  title: 'the title',
  type: 'the type',
  description: 'the description',
  assignee: 'who has it',
  target_agent: 'the agent that it is for',
  resolved_in_build: 'the build of the fix',
  fix_commit: 'the commit of the fix',
  commit_sha: 'the commit',
  pr_url: 'the pull request',
  repo_url: 'the repository',
  file_path: 'the file',
  line_no: 'the line',
  push_id: 'the push',
  tags: 'the tags',
  environment: 'the environment',
  duplicate_of: 'what it is a duplicate of',
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
  return to === '' ? `took it from ${toText(assigned['from'])}` : `gave it to ${to}`;
}

const isObject = (value: Json | undefined): value is { [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const SOURCE_LABELS: Record<Item['source'], string> = {
  agent: 'An agent',
  app: 'An application',
  ui: 'A person',
  sdk: 'An SDK',
};

/** Old entries name a token id as the actor, so the sentence names the kind of sender. */
function buildCreatedLine({ at, data }: HistoryEntry): HistoryLine {
  const source = toText(data['source']);
  const who = Object.hasOwn(SOURCE_LABELS, source) ? SOURCE_LABELS[source as Item['source']] : 'Somebody';
  return { at, actor: null, icon: 'plus', text: `${who} reported it first`, reason: null };
}

function formatDifference(data: HistoryEntry['data']): string {
  const values = (Array.isArray(data['values']) ? data['values'] : []).map(toText).join(' or ');
  return values === '' ? '' : ` by ${toSpacedText(data['field'])} ${values}`;
}

function formatForgeLink({ data }: HistoryEntry): string {
  const commit = toText(data['commit']).slice(0, 12);
  const what = data['kind'] === 'commit' ? `commit ${commit}` : 'a pull request';
  const title = toText(data['title']);
  return `named it in ${what}, ${toText(data['state'])}${title === '' ? '' : `: ${title}`}`;
}

const formatItemLink = ({ data }: HistoryEntry): string =>
  `${getLinkKindLabel(toText(data['kind']))}${toText(data['ref']) === '' ? ' an item of another project' : ''}`;

function formatRequest({ data }: HistoryEntry): string {
  const rule = toText(data['rule']);
  return `asked for the agent ${toText(data['agent'])}${rule === '' ? '' : `, by the rule ${rule}`}`;
}

const ENTRY_FORMATTERS: Record<string, [icon: string, (entry: HistoryEntry) => string]> = {
  claimed: ['robot', formatClaim],
  reclaimed: ['robot', () => 'claimed it again with a new token'],
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
  held: ['lock', () => 'put it on hold'],
  'hold lifted': ['unlock', () => 'lifted the hold'],
  muted: ['mute', () => 'muted it by an ignore rule'],
  unmuted: ['eye', () => 'unmuted it'],
  merged: ['merge', () => 'merged into this one:'],
  split: ['copy', () => 'split off again:'],
  split_off: [
    'copy',
    ({ data }) => `split ${toText(data['occurrences'])} kept occurrences off${formatDifference(data)} into`,
  ],
  split_from: ['copy', () => 'split it off from'],
  linked: ['merge', formatForgeLink],
  'link added': ['link', (entry) => `linked it: it ${formatItemLink(entry)}`],
  'link removed': ['link', (entry) => `removed the link that it ${formatItemLink(entry)}`],
  blocked: ['lock', () => 'found it blocked: agents do not get it from the queue'],
  unblocked: ['unlock', () => 'found nothing that blocks it any more'],
  'agent requested': ['robot', formatRequest],
  'pull request merged': ['merge', () => 'saw its pull request merged'],
  'pull request closed': ['history', () => 'saw its pull request closed without a merge'],
};

export function toHistoryLine(entry: HistoryEntry): HistoryLine {
  const { at, actor, action, data } = entry;
  if (action === 'created') return buildCreatedLine(entry);
  const reason = toText(data['reason']) || null;
  if (action === 'status')
    return { at, actor, icon: ICONS[toText(data['to'])] ?? 'history', text: formatStatus(entry), reason };
  const [icon, say] = ENTRY_FORMATTERS[action] ?? ['history', () => toSpacedText(action)];
  const ref = toText(data['ref']);
  const url = action === 'linked' ? toText(data['url']) : '';
  return { at, actor, icon, text: say(entry), reason, ...(ref !== '' && { ref }), ...(url !== '' && { url }) };
}
