/**
 * Incidents: each down with its length, its alarm, who was told and what people say, on every
 * engine (contract 30).
 */
import { expect } from 'chai';
import type { AlarmAcknowledgement } from '../../../../ports/domain/alarms/receivers.js';
import { parseHeartbeat } from '../../../../plugins/watchdog/heartbeat/heartbeat.js';
import { formatCsv, toIncidentRows } from '../../../../plugins/watchdog/incidents/incident-csv.js';
import type { IncidentView } from '../../../../plugins/watchdog/model/incident.js';
import { getDailyUptime } from '../../../../plugins/watchdog/model/uptime.js';
import { toIsoString } from '../../../../lib/time.js';
import { ANYONE, HOUR, MINUTE, STORES, fixtureOn, type Fixture } from '../fixture.js';
import { useStore } from '../../../support/stores.js';

const DAY = 24 * HOUR;

for (const engine of STORES) {
  describe(`incidents (${engine.name})`, function () {
    let fixture: Fixture;

    useStore(engine, (store) => (fixture = fixtureOn(store)), { end: () => fixture.settled() });

    const all = async (query: object = {}): Promise<IncidentView[]> =>
      (await fixture.incidents.listPage(query, ANYONE)).items;
    const fail = (source: string, message: string) =>
      fixture.intake.recordHeartbeat(parseHeartbeat({ source, status: 'error', message }, undefined, true), ANYONE);

    it('starts with the silence, records the alarm, and ends with the heartbeat', async () => {
      await fixture.beat('a', { interval: 60 });
      const began = toIsoString(fixture.clock.now() + 4 * MINUTE);
      fixture.clock.advance(5 * MINUTE);
      await fixture.evaluate();
      const [open] = await all({ open: true });
      expect(open).to.include({
        source: 'a',
        began_at: began,
        ended_at: null,
        duration_seconds: 60,
        suppressed_by: null,
      });
      expect(open?.alarm_id).to.equal((await fixture.monitor('a')).alarm_id);
      fixture.clock.advance(MINUTE);
      await fixture.beat('a');
      await fixture.settled();
      const [over] = await all();
      expect(over).to.include({
        id: open?.id,
        duration_seconds: 120,
        ended_in: 'up',
        recovered_at: toIsoString(fixture.clock.now()),
      });
      expect(await all({ open: true })).to.deep.equal([]);
      expect(await all({ source: 'b' })).to.deep.equal([]);
    });

    it('stores the heartbeat message and the suppressing parent', async () => {
      await fixture.beat('p');
      await fixture.beat('c');
      await fixture.monitors.update('c', { parent_source: 'p' }, ANYONE);
      await fail('p', 'disk full');
      fixture.clock.advance(1000);
      await fail('c', 'no database');
      await fixture.settled();
      const [child, parent] = await all();
      expect(parent).to.include({ source: 'p', note: 'disk full', message: 'Reported an error' });
      expect(child).to.include({ source: 'c', suppressed_by: 'p', alarm_at: null });
      await fixture.monitors.remove('c', ANYONE);
      expect((await all({ source: 'c' }))[0]?.ended_at).to.equal(toIsoString(fixture.clock.now()));
    });

    it('never combines writes of the same incident in an unordered bulk', async () => {
      const { incidents } = fixture.deps;
      const bulk = incidents.bulk.bind(incidents);
      const met: unknown[][] = [];
      incidents.bulk = (ops) => {
        const ids = ops.flatMap((op) => ('change' in op ? [op.change['id']] : []));
        if (new Set(ids).size < ids.length) met.push(ids);
        return bulk(ops);
      };
      await fixture.beat('p');
      await fixture.beat('c');
      await fixture.monitors.update('c', { parent_source: 'p' }, ANYONE);
      await fail('p', 'disk full');
      fixture.clock.advance(1000);
      await fail('c', 'no database');
      await fixture.settled();
      expect(met).to.deep.equal([]);
      expect((await all({ source: 'c' }))[0]).to.include({ suppressed_by: 'p' });
    });

    it('is idempotent for a repeated outbox entry, and preserves comments', async () => {
      await fail('a', 'x');
      await fixture.settled();
      const [{ id } = { id: '' }] = await all();
      await fixture.incidents.setCause(id, 'A full disk', ANYONE);
      await fixture.incidents.addComment(id, 'Cleaned up', ANYONE);
      const doc = await fixture.monitors.getMonitor('a', ANYONE);
      const outbox = [
        {
          id: `evt_${id}`,
          at: doc.last_state_change_utc,
          kind: 'transition',
          type: 'state.changed',
          level: 'error',
          from: 'up',
          to: 'down',
          message: 'y',
          incident: id,
        },
      ] as const;
      await fixture.outbox.flush([{ ...doc, outbox: [...outbox] }]);
      const [again] = await all();
      expect(again).to.include({ cause: 'A full disk', message: 'Reported an error' });
      expect(again?.comments).to.deep.equal([
        { at: toIsoString(fixture.clock.now()), by: 'tester', text: 'Cleaned up' },
      ]);
    });

    it('lists the recipients of the alarm and of the recovery', async () => {
      fixture.deps.receivers = () => [
        {
          listReceivers: async ({ id }) => [
            { kind: 'webhook', name: `hook of ${id.slice(0, 4)}`, state: 'success', at: null, href: '/' },
          ],
        },
      ];
      await fail('a', 'x');
      fixture.clock.advance(1000);
      await fixture.beat('a');
      await fixture.settled();
      const [{ id } = { id: '' }] = await all();
      const reported = await fixture.incidents.listReceivers(await fixture.incidents.getIncident(id, ANYONE));
      expect(reported.map(({ event, name }) => `${event} ${name}`)).to.deep.equal([
        'monitor.down hook of evt_',
        'monitor.recovered hook of evt_',
      ]);
    });

    it('limits a project token to incidents of its project', async () => {
      await fail('a', 'x');
      await fixture.settled();
      const caller = { ...ANYONE, project: 'shop' };
      expect((await fixture.incidents.listPage({}, caller)).items).to.deep.equal([]);
      const [{ id } = { id: '' }] = await all();
      const error: unknown = await fixture.incidents.getIncident(id, caller).catch((fault: unknown) => fault);
      expect(error).to.have.property('status').that.is.oneOf([403, 404]);
    });

    it('is acknowledged, taken over and handed back, but never after its end', async () => {
      await fail('a', 'x');
      await fixture.settled();
      const [{ id } = { id: '' }] = await all();
      const mia = { ...ANYONE, name: 'mia' };
      const words: AlarmAcknowledgement[] = [];
      fixture.deps.receivers = () => [
        { listReceivers: () => Promise.resolve([]), forwardAcknowledgement: async (word) => void words.push(word) },
        // One that only tells who was told.
        { listReceivers: () => Promise.resolve([]) },
      ];
      const at = fixture.clock.iso();
      const taken = await fixture.incidents.acknowledge(id, true, ANYONE);
      expect(taken).to.include({ acknowledged_by: 'tester', acknowledged_at: at, ended_at: null });
      fixture.clock.advance(MINUTE);
      expect(await fixture.incidents.acknowledge(id, true, ANYONE)).to.include({ acknowledged_at: at });
      const over = await fixture.incidents.acknowledge(id, true, mia);
      expect(over).to.include({ acknowledged_by: 'mia', acknowledged_at: fixture.clock.iso() });
      const { incident_id } = await fixture.monitors.getMonitor('a', ANYONE);
      expect((await fixture.incidents.findOpen([String(incident_id)])).get(id)?.acknowledged_by).to.equal('mia');
      expect((await fixture.monitor('a')).alarm, 'the alarm stays as it was').to.equal('open');
      const back = await fixture.incidents.acknowledge(id, false, mia);
      expect(back).to.include({ acknowledged_by: null, acknowledged_at: null });
      const reported = await fixture.timeline.listPage(
        { type: ['incident.acknowledged', 'incident.handed_back'] },
        ANYONE,
      );
      expect(reported.items.map(({ message }) => message)).to.have.members([
        'Acknowledgment removed by mia',
        'Acknowledged by mia',
        'Acknowledged by tester',
      ]);
      const { alarm_id } = await fixture.monitor('a');
      expect(words.map(({ by }) => by)).to.deep.equal(['tester', 'tester', 'mia', null]);
      expect(words[0], 'the same word again has the same id').to.deep.equal(words[1]);
      expect(words[0]).to.deep.equal({ id: `${id}:${at}:tester`, timestamp: at, alarm_id, source: 'a', by: 'tester' });
      expect(new Set(words.map((word) => word.id)).size).to.equal(3);
      fixture.clock.advance(MINUTE);
      await fixture.beat('a');
      await fixture.settled();
      const rejected: unknown = await fixture.incidents.acknowledge(id, true, mia).catch((fault: unknown) => fault);
      expect(rejected).to.include({ status: 409, code: 'conflict' });
      expect(await fixture.incidents.findOpen([id])).to.have.property('size', 0);
    });
  });
}

describe('incidents (pure)', () => {
  it('exports CSV without formulas or broken rows', () => {
    expect(formatCsv([['\uff1d1', 'a;=1']])).to.equal(`"'\uff1d1","a;'=1"\r\n`);
    expect(formatCsv([['=1+1', 'a"b', null, -1, true, '-x']])).to.equal(`"'=1+1","a""b",,"-1","true","'-x"\r\n`);
    expect(toIncidentRows([])).to.deep.equal([]);
  });

  it('stores daily uptime for 400 days', async () => {
    const [engine] = STORES;
    const opened = await engine!.open(() => {
      throw new Error('memory is always there');
    });
    const fixture = fixtureOn(opened.store);
    fixture.clock.set('2025-01-01T00:00:00.000Z');
    for (let day = 0; day < 420; day++) {
      await fixture.beat('a', { status: 'ok' });
      fixture.clock.advance(DAY - HOUR);
      await fixture.intake.recordHeartbeat(parseHeartbeat({ source: 'a', status: 'error' }, undefined, true), ANYONE);
      fixture.clock.advance(HOUR);
    }
    await fixture.beat('a');
    const doc = await fixture.monitors.getMonitor('a', ANYONE);
    const { share, days } = getDailyUptime(doc, fixture.clock.now(), 400);
    expect(days).to.have.lengthOf(400);
    expect(days[0]).to.include({ up_seconds: 23 * 3600, down_seconds: 3600, warning_seconds: 0 });
    expect(share).to.be.closeTo(23 / 24, 1e-9);
    expect(doc.uptime?.length).to.be.lessThan(16_000);
    await fixture.settled();
    await opened.close();
  });
});
