/** Rules of earlier versions become filters, and nobody gets what no rule of theirs asked for. */
import { expect } from 'chai';
import { MemoryStore } from '../../../adapters/memory/store.js';
import type { MigrationContext } from '../../../kernel/contract/index.js';
import type { Channel } from '../../../plugins/notifications/channels/channel.js';
import { MIGRATIONS, type LegacyRule } from '../../../plugins/notifications/migrations.js';
import { ManualClock } from '../../kit/clock.js';
import { FakeIds, RecordingLog } from '../../kit/fakes.js';

type Rule = Partial<LegacyRule>;

describe('notifications: migration of rules', () => {
  const migrated = async (rules: Rule[]): Promise<Channel[]> => {
    const store = new MemoryStore();
    const channels = store.collection<Channel>('channels');
    const id = '0198f0a0-0000-7000-8000-000000000001';
    const old = { id, name: 'room', kind: 'slack', enabled: true, target: 't', secret: null, quiet: null };
    await channels.insert({ ...old, urgent_at_once: true } as unknown as Channel);
    const base = { channel_id: id, project: null, topics: ['monitor.down'], least_severity: 'low' } as const;
    for (const [n, rule] of rules.entries())
      await store.collection<LegacyRule>('rules').insert({ ...base, topics: [...base.topics], id: `r-${n}`, ...rule });
    const ctx: MigrationContext = {
      collection: (name) => store.collection(name),
      clock: new ManualClock(0),
      ids: new FakeIds(),
      log: new RecordingLog(),
    };
    for (const _ of [1, 2]) await MIGRATIONS[0]?.run(ctx);
    return (await channels.find({ sort: [['name', 'asc']] })).items;
  };

  for (const [what, rules, expected] of [
    ['no rule', [], [{ events: [], projects: [], min_severity: 'low' }]],
    [
      'rules that differ by events',
      [{ topics: ['monitor.down'] }, { topics: ['bug.created', 'monitor.down'] }],
      [{ events: ['monitor.down', 'bug.created'], projects: [], min_severity: 'low' }],
    ],
    [
      'rules that differ by project',
      [{ project: 'shop' }, { project: 'web' }],
      [{ events: ['monitor.down'], projects: ['shop', 'web'], min_severity: 'low' }],
    ],
    [
      'rules that no single filter expresses',
      [{ project: 'shop', topics: ['bug.created'] }, { least_severity: 'critical' }],
      [
        { events: ['bug.created'], projects: ['shop'], min_severity: 'low' },
        { events: ['monitor.down'], projects: [], min_severity: 'critical' },
      ],
    ],
  ] as [string, Rule[], object[]][])
    it(`creates ${expected.length} from ${what}, and is idempotent`, async () => {
      const channels = await migrated(rules);
      const filters = channels.map(({ events, projects, min_severity }) => ({ events, projects, min_severity }));
      expect(filters).to.deep.equal(expected);
      for (const channel of channels)
        expect(channel).to.include({ critical_immediately: true, target: 't', flap_minutes: 0 });
    });
});
