/**
 * Fixed errors that come back, as SDKs name their releases (contract 20, regression; field
 * reports).
 */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Loose } from '../../adapters/hapi/support.js';
import { AUTH, ENVELOPE, event, Fixture, newId } from './fixture.js';

interface FieldReport {
  name: string;
  inputs: Record<string, unknown>[];
}

const REPORTS = JSON.parse(
  readFileSync(new URL('../../../../test/fixtures/field-reports/intake.json', import.meta.url), 'utf8'),
) as FieldReport[];
const inputsOf = (wanted: string): Record<string, unknown>[] =>
  REPORTS.find(({ name }) => name === wanted)?.inputs ?? [];

describe('sentry intake: regressions', () => {
  let fixture: Fixture;
  beforeEach(async () => {
    fixture = await Fixture.create();
  });
  afterEach(() => fixture.stop());

  const send = async (fields: object, header: object = {}): Promise<Loose> => {
    const one = event({ ...fields, event_id: newId() });
    const lines = [{ event_id: one['event_id'], ...header }, { type: 'event' }, one];
    const answer = await fixture.post(ENVELOPE, lines.map((line) => JSON.stringify(line)).join('\n'), AUTH);
    expect(answer.status).to.equal(200);
    const [item, ...others] = await fixture.items();
    expect(others).to.deep.equal([]);
    return item as Loose;
  };
  const patch = (json: object): Promise<{ status: number }> =>
    fixture.server.ask('PATCH', '/api/bugtracker/v1/bugs/shop-1', { bearer: 'master:bugtracker:manage', json });

  it('v-prefix-never-regresses: detects a regression in a release with a v prefix', async () => {
    const [first = {}, again = {}] = inputsOf('v-prefix-never-regresses');
    await send(first);
    expect(await patch({ status: 'resolved', resolved_in_build: '1.4.2' })).to.include({ status: 200 });
    expect(await send(again)).to.include({
      status: 'open',
      regression: true,
      first_build: '1.4.1',
      last_build: '1.4.2',
      regressed_in_build: '1.4.2',
      late_count: 0,
    });
  });

  const COMMIT = '9fceb02d0ae598e95dc970b74767f19372d61af8';
  const OTHER = 'a94a8fe5ccb19ba61c4c0873d391e987982fbbd3';
  for (const [first, fix, again, regression] of [
    ['shop@1.4.1', 'v1.4.2', 'shop@1.4.3', true],
    ['shop@v1.4.1', '1.4.2', 'v1.4.1', false],
    ['v1.4.1', 'shop@v1.4.2', 'v1.4.2-rc.1', false],
    ['shop@1.4.2+388', '1.4.2+389', 'shop@1.4.2+388', false],
    ['shop@1.4.2+388', '1.4.2+389', 'shop@1.4.2+389', true],
    ['shop@1.4.2+388', 'shop@v1.4.2+389', 'shop@v1.4.2+1000', true],
    ['shop@1.4.2+388', '1.4.3', 'shop@1.4.2+999', false],
    ['shop@1.4.1+7', '1.4.2', 'shop@1.4.2+8', true],
    [`shop@${OTHER}`, COMMIT, `shop@${COMMIT}`, true],
    [COMMIT, COMMIT, COMMIT, true],
    [`shop@${OTHER}`, COMMIT, OTHER, false],
    ['shop@1.4.1', '1.4.2', COMMIT, false],
  ] as const)
    it(`reports ${regression ? 'a regression' : 'late'} when fixed in ${fix} and seen in ${again}`, async () => {
      await send({ release: first });
      expect(await patch({ status: 'resolved', resolved_in_build: fix })).to.include({ status: 200 });
      const item = await send({ release: again });
      expect(item).to.include({ regression, status: regression ? 'open' : 'resolved', late_count: regression ? 0 : 1 });
    });

  for (const [first, fix] of [
    ['shop@v1.4.2', '1.4.2'],
    ['shop@1.4.2+388', '1.4.2+388'],
    ['shop@1.4.2+388', '1.4.2+387'],
    ['shop@v1.5', 'v1.4.9'],
  ] as const)
    it(`rejects a fix in ${fix} for an error first seen in ${first}`, async () => {
      await send({ release: first });
      expect(await patch({ status: 'resolved', resolved_in_build: fix })).to.include({ status: 422 });
    });

  const ago = (ms: number): string => new Date(fixture.service.clock.now() - ms).toISOString();
  const HOUR = 3_600_000;

  it('slow-clock: uses the receive time when the device clock is days slow', async () => {
    const [input = {}] = inputsOf('slow-clock');
    const old = ago(72 * HOUR);
    const item = await send({ ...(input['event'] as object), timestamp: old }, { sent_at: old });
    expect(Date.parse(item['last_seen_at'] as unknown as string)).to.equal(fixture.service.clock.now());
  });

  for (const [what, timestamp, sentAt, seen] of [
    ['keeps the time of an event that was stored offline', 72 * HOUR, 0, 72 * HOUR],
    ['corrects a clock that runs ahead', -2 * HOUR, -3 * HOUR, HOUR],
    ['keeps the time when clocks differ by less than a minute', 5 * HOUR, 59_000, 5 * HOUR],
  ] as const)
    it(what, async () => {
      const item = await send({ timestamp: ago(timestamp) }, { sent_at: ago(sentAt) });
      expect(item['last_seen_at']).to.equal(ago(seen));
    });

  it('reopen a closed item when the clock is an hour slow', async () => {
    await send({});
    expect(await patch({ status: 'closed' })).to.include({ status: 200 });
    fixture.service.clock.advance(HOUR / 2);
    expect(await send({ timestamp: ago(HOUR) }, { sent_at: ago(HOUR) })).to.include({
      status: 'open',
      regression: true,
    });
  });
});
