import { createHash } from 'node:crypto';
import type { Doc, Migration, MigrationContext } from '../../kernel/contract/index.js';
import { collectAll } from '../../lib/paging.js';
import type { Channel } from './channels/channel.js';
import { SEVERITIES, type NotificationSeverity } from './notes/note.js';

/** A rule of version 1; a channel had several. */
export interface LegacyRule extends Doc {
  channel_id: string;
  project: string | null;
  topics: string[];
  least_severity: NotificationSeverity;
}

type LegacyChannel = Channel & { urgent_at_once?: boolean };

const removeDuplicates = (texts: readonly string[]): string[] => [...new Set(texts)];

/** One filter can express rules that differ in one respect only. */
function mergeRules(rules: readonly LegacyRule[]): LegacyRule[][] {
  const groups = new Map<string, LegacyRule[]>();
  for (const rule of rules) {
    const key = `${rule.project ?? ''} ${rule.least_severity}`;
    groups.set(key, [...(groups.get(key) ?? []), rule]);
  }
  const merged = new Map<string, LegacyRule[]>();
  for (const group of groups.values()) {
    const topics = removeDuplicates(group.flatMap((rule) => rule.topics)).toSorted();
    const [{ project, least_severity } = { project: null, least_severity: 'low' }] = group;
    const key = `${project === null ? 'all' : 'some'} ${least_severity} ${topics.join()}`;
    merged.set(key, [...(merged.get(key) ?? []), ...group]);
  }
  return [...merged.values()];
}

const buildFilter = (rules: readonly LegacyRule[]) => ({
  events: removeDuplicates(rules.flatMap(({ topics }) => topics)),
  projects: removeDuplicates(rules.flatMap(({ project }) => (project === null ? [] : [project]))),
  min_severity: rules[0]?.least_severity ?? SEVERITIES[3],
});

function buildCopyId(id: string, n: number): string {
  const hex = createHash('sha256').update(`${id} ${n}`).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** A channel whose rules need several filters becomes several channels with the same receiver. */
async function convertRulesToFilters(ctx: MigrationContext): Promise<void> {
  const channels = ctx.collection<LegacyChannel>('channels');
  const rules = ctx.collection<LegacyRule>('rules');
  for (const channel of await collectAll(channels, { limit: 200 })) {
    if (Array.isArray(channel.events)) continue;
    const own = await collectAll(rules, { filter: { channel_id: channel.id }, limit: 200 });
    const [first = [], ...others] = mergeRules(own);
    const fields = {
      monitors: [],
      tags: [],
      repeat_minutes: 0,
      flap_minutes: 0,
      server: null,
      headers: null,
      template: null,
      timezone: channel.quiet?.timezone ?? null,
      critical_immediately: channel.urgent_at_once === true,
      failing_since: null,
      disabled_at: null,
    };
    const copies = others.map(
      (group, i): LegacyChannel =>
        Object.assign({ ...channel }, fields, buildFilter(group), {
          id: buildCopyId(channel.id, i),
          name: `${channel.name} (${i + 2})`.slice(-100),
          lease_by: null,
          lease_until: null,
        }) as LegacyChannel,
    );
    // The original channel's filter marks the conversion as done.
    if (copies.length > 0) await channels.bulk(copies.map((copy) => ({ insert: copy })));
    await channels.change({ id: channel.id }, { set: { ...fields, ...buildFilter(first) } });
  }
}

export const MIGRATIONS: readonly Migration[] = [{ number: 1, name: 'channel-filters', run: convertRulesToFilters }];
