/** Formats an item's history as sentences. An unknown action is shown by its name. */
import { linkSays } from './links.js';
import type { Item } from '../../../../ports/domain/bugs.js';
import type { Json } from '../../../../ports/store.js';

export interface Entry {
  id: string;
  at: string;
  action: string;
  actor: string;
  data: { [key: string]: Json };
}

export interface Line {
  at: string;
  /** Null when the sentence names the actor. */
  actor: string | null;
  icon: string;
  text: string;
  reason: string | null;
  ref?: string;
  url?: string;
}

const text = (value: Json | undefined): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '';
const spaced = (value: Json | undefined): string =>
  value === 'wont_fix' ? 'won’t fix' : text(value).replaceAll('_', ' ');

const ICONS: Record<string, string> = {
  open: 'refresh',
  in_progress: 'robot',
  needs_info: 'inbox',
  resolved: 'check',
  closed: 'check',
  wont_fix: 'close',
  duplicate: 'merge',
};

const WHY: Record<string, string> = {
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

function because(data: Entry['data']): string {
  const why = text(data['why']);
  return WHY[why] === undefined ? '' : `: ${WHY[why]}`;
}

function statusText({ data }: Entry): string {
  const build = data['to'] === 'resolved' || data['to'] === 'closed' ? text(data['build']) : '';
  return `moved it from ${spaced(data['from'])} to ${spaced(data['to'])}${build === '' ? '' : `, fixed in ${build}`}${because(data)}`;
}

function claimText({ data, actor }: Entry): string {
  const agent = text(data['agent']);
  const by = data['by'] === 'next' ? ' from the queue' : '';
  return agent === actor || agent === '' ? `claimed it${by}` : `claimed it${by} as ${agent}`;
}

function progressText({ data }: Entry): string {
  const note = text(data['note']);
  const tokens = typeof data['tokens'] === 'number' ? ` (${data['tokens'].toLocaleString('en')} tokens)` : '';
  return `${note === '' ? 'renewed the lease' : `says: ${note}`}${tokens}`;
}

const FIELDS: Record<string, string> = {
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

let list: Intl.ListFormat | undefined;
const and = (names: string[]): string => (list ??= new Intl.ListFormat('en-GB', { type: 'conjunction' })).format(names);

function editText({ data: { fields, changes } }: Entry): string {
  const names = (Array.isArray(fields) ? fields : []).map((field) => FIELDS[text(field)] ?? spaced(field));
  const [only, ...more] = Array.isArray(changes) ? changes : [];
  const assigned = more.length === 0 && isObject(only) && only['field'] === 'assignee' ? only : null;
  if (assigned === null || names.length > 1) return `changed ${and(names)}`;
  const to = text(assigned['to']);
  return to === '' ? `took it from ${text(assigned['from'])}` : `gave it to ${to}`;
}

const isObject = (value: Json | undefined): value is { [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const SOURCES: Record<Item['source'], string> = {
  agent: 'An agent',
  app: 'An application',
  ui: 'A person',
  sdk: 'An SDK',
};

/** Old entries name a token id as the actor, so the sentence names the kind of sender. */
function createdLine({ at, data }: Entry): Line {
  const source = text(data['source']);
  const who = Object.hasOwn(SOURCES, source) ? SOURCES[source as Item['source']] : 'Somebody';
  return { at, actor: null, icon: 'plus', text: `${who} reported it first`, reason: null };
}

function differing(data: Entry['data']): string {
  const values = (Array.isArray(data['values']) ? data['values'] : []).map(text).join(' or ');
  return values === '' ? '' : ` by ${spaced(data['field'])} ${values}`;
}

function linkText({ data }: Entry): string {
  const commit = text(data['commit']).slice(0, 12);
  const what = data['kind'] === 'commit' ? `commit ${commit}` : 'a pull request';
  const title = text(data['title']);
  return `named it in ${what}, ${text(data['state'])}${title === '' ? '' : `: ${title}`}`;
}

const linkedTo = ({ data }: Entry): string =>
  `${linkSays(text(data['kind']))}${text(data['ref']) === '' ? ' an item of another project' : ''}`;

function requestText({ data }: Entry): string {
  const rule = text(data['rule']);
  return `asked for the agent ${text(data['agent'])}${rule === '' ? '' : `, by the rule ${rule}`}`;
}

const SAYS: Record<string, [icon: string, (entry: Entry) => string]> = {
  claimed: ['robot', claimText],
  reclaimed: ['robot', () => 'claimed it again with a new token'],
  renewed: ['clock', progressText],
  commented: ['comment', () => 'commented'],
  severity: ['flag', ({ data }) => `set severity from ${text(data['from'])} to ${text(data['to'])}${because(data)}`],
  'severity locked': ['lock', () => 'locked the severity'],
  'severity unlocked': ['unlock', () => 'unlocked the severity'],
  edited: ['edit', editText],
  forced: ['bolt', ({ data }) => `overrode the lease of ${text(data['agent']) || 'an agent'}`],
  held: ['lock', () => 'put it on hold'],
  'hold lifted': ['unlock', () => 'lifted the hold'],
  muted: ['mute', () => 'muted it by an ignore rule'],
  unmuted: ['eye', () => 'unmuted it'],
  merged: ['merge', () => 'merged into this one:'],
  split: ['copy', () => 'split off again:'],
  split_off: ['copy', ({ data }) => `split ${text(data['occurrences'])} kept occurrences off${differing(data)} into`],
  split_from: ['copy', () => 'split it off from'],
  linked: ['merge', linkText],
  'link added': ['link', (entry) => `linked it: it ${linkedTo(entry)}`],
  'link removed': ['link', (entry) => `removed the link that it ${linkedTo(entry)}`],
  blocked: ['lock', () => 'found it blocked: agents do not get it from the queue'],
  unblocked: ['unlock', () => 'found nothing that blocks it any more'],
  'agent requested': ['robot', requestText],
  'pull request merged': ['merge', () => 'saw its pull request merged'],
  'pull request closed': ['history', () => 'saw its pull request closed without a merge'],
};

export function lineOf(entry: Entry): Line {
  const { at, actor, action, data } = entry;
  if (action === 'created') return createdLine(entry);
  const reason = text(data['reason']) || null;
  if (action === 'status')
    return { at, actor, icon: ICONS[text(data['to'])] ?? 'history', text: statusText(entry), reason };
  const [icon, say] = SAYS[action] ?? ['history', () => spaced(action)];
  const ref = text(data['ref']);
  const url = action === 'linked' ? text(data['url']) : '';
  return { at, actor, icon, text: say(entry), reason, ...(ref !== '' && { ref }), ...(url !== '' && { url }) };
}
