/** Seats of floating licenses in the SDK: cache, renewal, release (contract 97, floating seats). */
import { expect } from 'chai';
import { createClient, type Client, type LicenseCheck } from '../../../clients/sdk/index.js';
import { waitUntil } from '../../harness.js';
import { FakeServer, folder, json, page, removeFolder } from './server.js';

const KEY = 'ABCDE-FGHJK-LMNPQ-RSTUV-WXYZ2';
const START = Date.parse('2026-11-20T12:00:00.000Z');
const HOUR = 3_600_000;
const at = (ms: number): string => new Date(START + ms).toISOString();
const RELEASE = '/api/license/v1/validate/release';

describe('sdk: floating seats', () => {
  let server: FakeServer;
  let dir: string;
  let now: number | null;
  const client = (): Client =>
    createClient({
      server: server.url,
      project: 'shop',
      cacheDir: dir,
      machineId: 'm-1',
      now: () => now ?? Date.now(),
    });
  const answer = (more: object = {}): Record<string, unknown> => ({
    status: 'active',
    valid: true,
    product: 'shop',
    expires_at: null,
    checked_at: at(0),
    cache_ttl_hours: 72,
    ...more,
  });
  const leased = (ms: number, more: object = {}): Record<string, unknown> =>
    answer({ lease: { id: 'l-1', expires_at: at(ms) }, seats: { used: 1, max: 2 }, ...more });
  const paths = (): string[] => server.asked.map(({ path }) => path);

  beforeEach(async () => {
    server = await new FakeServer().start();
    dir = await folder();
    now = START;
  });
  afterEach(async () => {
    await server.stop();
    await removeFolder(dir);
  });

  it('returns lease, seats and entitlements', async () => {
    server.reply = json(200, leased(HOUR, { entitlements: [{ name: 'api', until: null }] }));
    expect(await client().validateLicense(KEY)).to.deep.include({
      lease: { id: 'l-1', expiresAt: at(HOUR) },
      seats: { used: 1, max: 2 },
      entitlements: [{ name: 'api', until: null }],
    });
    server.reply = json(200, answer({ status: 'no_seat_free', valid: false, lease: null, seats: { used: 2, max: 2 } }));
    expect(await client().validateLicense(KEY)).to.deep.include({ status: 'no_seat_free', valid: false, lease: null });
  });

  it('trusts a cached answer of a floating license until its lease ends', async () => {
    server.reply = json(200, leased(HOUR));
    await client().validateLicense(KEY);
    server.reply = page(502, '');
    now = START + HOUR - 1;
    expect(await client().validateLicense(KEY)).to.include({ status: 'active', valid: true, fromCache: true });
    now = START + HOUR;
    expect(await client().validateLicense(KEY)).to.include({ status: null, valid: false });
  });

  it('is valid in the grace period, also from the cache', async () => {
    server.reply = json(200, answer({ expires_at: at(HOUR), grace_until: at(2 * HOUR) }));
    expect(await client().validateLicense(KEY)).to.include({ status: 'active', graceUntil: at(2 * HOUR) });
    server.reply = page(502, '');
    now = START + HOUR;
    expect(await client().validateLicense(KEY)).to.include({ status: 'grace', valid: true, fromCache: true });
    now = START + 2 * HOUR;
    expect(await client().validateLicense(KEY)).to.include({ status: null, valid: false });
    server.reply = json(200, answer({ status: 'grace', expires_at: at(HOUR), grace_until: at(9 * HOUR) }));
    expect(await client().validateLicense(KEY)).to.include({ status: 'grace', valid: true, fromCache: false });
  });

  it('renews a held seat before its lease ends, reports a lost one, and releases once', async () => {
    now = null;
    const ends = (): string => new Date(Date.now() + 3_000).toISOString();
    let status = 'active';
    let id: string | null = 'l-1';
    server.reply = (requested, response) => {
      const lease = id === null ? null : { id, expires_at: ends() };
      json(200, answer({ status, valid: id !== null, lease, seats: { used: 2, max: 2 } }))(requested, response);
    };
    const changes: LicenseCheck[] = [];
    const seat = await client().holdSeat(KEY, { onChange: (license) => changes.push(license) });
    expect(seat.license).to.deep.include({ valid: true });
    await waitUntil('a renewal', () => paths().length >= 2);
    expect(changes).to.deep.equal([]);
    id = 'l-2';
    await waitUntil('another lease', () => changes.length === 1);
    expect(seat.license.lease?.id).to.equal('l-2');
    await Promise.all([seat.release(), seat.release()]);
    const releases = server.asked.filter(({ path }) => path === RELEASE);
    expect(releases.map(({ body }) => body)).to.deep.equal([{ lease_id: 'l-2' }]);
    status = 'no_seat_free';
    id = null;
    const none = await client().holdSeat(KEY);
    expect(none.license).to.include({ status: 'no_seat_free', valid: false });
    await none.release();
    expect(paths().filter((path) => path === RELEASE)).to.have.length(1);
  });
});
