/** The one credential check and its throttling (contract 10, accounts). */
import 'reflect-metadata';
import { expect } from 'chai';
import type { Account } from '../../../../plugins/access/model/account.js';
import type { AccessServices } from '../../../../plugins/access/services.js';
import { getWaitSeconds } from '../../../../plugins/access/login/throttle.js';
import { RUNTIME } from '../../../../ports/domain/system.js';
import type { Role } from '../../../../ports/http/index.js';
import { PASSWORD, services, fixtureOn, type Fixture } from '../fixture.js';
import { refused } from '../refused.js';

const ADDRESS = '192.0.2.7';

describe('access: credentials', () => {
  let w: Fixture;
  let s: AccessServices;
  const rows = () => w.store.collection<Account>('access_accounts');
  const make = (username: string, role: Role = 'admin') =>
    s.accounts.create('system', { username, role, password: PASSWORD });
  const check = (password: string, more: Partial<Parameters<AccessServices['credentials']['check']>[0]> = {}, p = s) =>
    p.credentials.check({ username: 'ada', password, address: ADDRESS, place: 'web', ...more });
  const wrong = (more = {}, p = s) => refused(check('wrong', more, p));

  beforeEach(async () => {
    w = await fixtureOn();
    s = await services(w);
    await make('ada');
    await make('spare');
  });

  it('returns the account for its name in any case', async () => {
    expect(await check(PASSWORD, { username: 'ADA' })).to.include({
      username: 'ada',
      role: 'admin',
      disabled: false,
      totp: false,
    });
    expect((await s.accounts.findByUsername('ada')).last_login_at).to.equal(w.clock.iso());
  });

  it('rejects wrong, unknown and disabled accounts with the same body and hashing cost', async () => {
    const off = await make('off', 'member');
    await s.accounts.setDisabled('system', off.id, true);
    w.hasher.asked.length = 0;
    const errors = [
      await wrong(),
      await wrong({ username: 'nobody' }),
      await refused(check(PASSWORD, { username: 'off' })),
    ];
    for (const error of errors) {
      expect(error).to.include({ status: 401, code: 'invalid_credentials', message: errors[0]?.message });
      expect(error.fields).to.equal(undefined);
    }
    expect(w.hasher.asked.map(({ known }) => known)).to.deep.equal([true, false, true]);
  });

  it('rejects passwords that match only up to 72 bytes or up to a NUL', async () => {
    const long = 'lantern-'.repeat(9);
    await s.accounts.setPassword('system', (await s.accounts.findByUsername('ada')).id, `${long.slice(0, 71)}!`);
    expect(await refused(check(`${long.slice(0, 71)}!!`))).to.include({ code: 'invalid_credentials' });
    expect(await refused(check(`${long.slice(0, 71)}!\0x`))).to.include({ code: 'invalid_credentials' });
  });

  it('checks roles only after the password', async () => {
    await make('guide', 'installer');
    await make('mem', 'member');
    const allowed: Record<string, Record<string, boolean>> = {
      web: { ada: true, mem: true, guide: false },
      setup: { ada: true, mem: false, guide: true },
      release_store: { ada: true, mem: true, guide: true },
    };
    let host = 0;
    for (const [place, accounts] of Object.entries(allowed)) {
      for (const [username, ok] of Object.entries(accounts)) {
        const call = check(PASSWORD, { username, place: place as 'web' });
        const address = `203.0.113.${++host}`;
        if (ok) expect(await call, `${place} ${username}`).to.include({ username });
        else expect(await refused(call), `${place} ${username}`).to.include({ status: 403, code: 'role_not_allowed' });
        expect(await wrong({ username, place: place as 'web', address })).to.include({ status: 401 });
      }
    }
  });

  it('returns 501 at setup login for a TOTP account with a correct password; the release store accepts it', async () => {
    const { id } = await s.accounts.findByUsername('ada');
    await rows().change({ id }, { set: { totp_secret: 'sealed' } });
    expect(await refused(check(PASSWORD, { place: 'setup' }))).to.include({ status: 501, code: 'totp_not_supported' });
    expect(await wrong({ place: 'setup' })).to.include({ status: 401 });
    expect(await check(PASSWORD, { place: 'release_store' })).to.include({ totp: true });
  });

  it('upgrades a hash of lower cost or another algorithm at the next successful login', async () => {
    const { id } = await s.accounts.findByUsername('ada');
    await rows().change({ id }, { set: { password_hash: await w.hasher.hash(PASSWORD, 10) } });
    await wrong();
    expect((await rows().get(id))?.password_hash).to.match(/^\$2y\$10\$/);
    await check(PASSWORD);
    expect((await rows().get(id))?.password_hash).to.match(/^\$2y\$12\$/);
  });

  describe('at the release store, for one address shared by many machines', () => {
    const at = (username: string, fits: boolean, address = ADDRESS, p = s) =>
      p.credentials.run({ username, address, request_id: 'r' }, async () => fits);
    const locked = async (username: string, address = ADDRESS): Promise<boolean> =>
      (await at(username, true, address).catch((error: unknown) => error)) !== true;
    const old = async (username: string, times = 12): Promise<void> => {
      for (let i = 0; i < times; i++) await at(username, false).catch(() => undefined);
    };

    it('one machine with an old password locks out neither neighbours nor the account elsewhere', async () => {
      expect([await at('ada', true), await at('spare', true)]).to.deep.equal([true, true]);
      await old('ada');
      expect(await locked('ada'), 'itself, by the count of its own').to.equal(true);
      expect(await locked('spare'), 'a neighbour').to.equal(false);
      expect(await locked('ada', '198.51.100.1'), 'the account elsewhere').to.equal(false);
      expect(await check(PASSWORD, { place: 'setup' }), 'at the setup login').to.include({ username: 'ada' });
    });

    it('unknown neighbours lock out no trusted machine, even after a restart', async () => {
      await at('spare', true);
      await old('stranger');
      const restarted = await services(w);
      expect(await at('spare', true, ADDRESS, restarted)).to.equal(true);
      expect(await locked('ada'), 'who was never let in from here').to.equal(true);
    });

    it('an address is forgotten 30 days after its last success', async () => {
      await at('spare', true);
      w.clock.forward(29 * 86_400_000);
      await at('spare', true);
      w.clock.forward(29 * 86_400_000);
      await old('stranger');
      expect(await locked('spare')).to.equal(false);
      w.clock.forward(30 * 86_400_000 + 1);
      await s.known.sweep();
      expect(await w.store.collection('access_known_addresses').count()).to.equal(0);
      await old('stranger');
      expect(await locked('spare')).to.equal(true);
    });

    it('any login registers an address, and guesses from it are throttled as before', async () => {
      await check(PASSWORD);
      await old('stranger');
      expect(await locked('ada')).to.equal(false);
      for (let i = 0; i < 5; i++) expect(await at('ada', false)).to.equal(false);
      expect(await refused(at('ada', false))).to.include({ status: 429, code: 'rate_limited' });
    });

    it('at most 1,000 addresses are stored per account', async () => {
      for (let i = 0; i < 1_002; i++) await s.known.recordSuccess('ada', `10.${i >> 8}.${i & 255}.1`);
      expect(await w.store.collection('access_known_addresses').count()).to.equal(1_000);
    });
  });

  describe('throttling', () => {
    it('applies no delay for five failures, then 1 s doubling up to 15 minutes', () => {
      const expected = [0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900];
      expect(expected.map((_, i) => getWaitSeconds(i + 1))).to.deep.equal(expected);
      expect(getWaitSeconds(5000)).to.equal(900);
    });

    it('applies the delays by the clock, across processes', async () => {
      const other = await services(w);
      for (let i = 0; i < 5; i++) expect(await wrong()).to.include({ status: 401 });
      for (const wait of [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]) {
        expect(await wrong(), `before waiting ${wait}`).to.include({ status: 401 });
        const limited = await wrong({}, other);
        expect(limited).to.include({ status: 429, code: 'rate_limited' });
        expect(limited.headers).to.include({ 'retry-after': String(wait), 'ratelimit-remaining': '0' });
        w.clock.forward(wait * 1000 - 1);
        expect(await refused(check(PASSWORD))).to.include({ status: 429 });
        w.clock.forward(1);
      }
    });

    it('does not extend a delay when a clock that ran ahead is corrected', async () => {
      w.clock.forward(3 * 3_600_000);
      for (let i = 0; i < 7; i++) await wrong();
      expect(await refused(check(PASSWORD))).to.include({ status: 429 });
      w.clock.forward(-3 * 3_600_000);
      expect(await check(PASSWORD)).to.include({ username: 'ada' });
      for (let i = 0; i < 6; i++) expect(await wrong()).to.include({ status: 401 });
      expect((await refused(check(PASSWORD))).headers).to.include({ 'retry-after': '1' });
    });

    it('counts failures of a non-existent name like those of an existing one', async () => {
      for (let i = 0; i < 6; i++) expect(await wrong({ username: 'nobody' })).to.include({ status: 401 });
      expect(await wrong({ username: 'NOBODY', address: '198.51.100.1' })).to.include({ status: 429 });
    });

    it('counts per address across accounts, and a success does not reset that count', async () => {
      for (let i = 0; i < 6; i++) await wrong({ username: `guess-${i}` });
      expect(await refused(check(PASSWORD))).to.include({ status: 429 });
      expect(await check(PASSWORD, { address: '198.51.100.1' })).to.include({ username: 'ada' });
      w.clock.forward(1000);
      await check(PASSWORD);
      expect(await wrong({ username: 'guess-7' })).to.include({ status: 401 });
      const limited = await refused(check(PASSWORD));
      expect(limited.headers).to.include({ 'retry-after': '2' });
    });

    it('resets the account’s count after a success', async () => {
      for (let round = 0; round < 3; round++) {
        for (let i = 0; i < 5; i++) expect(await wrong({ address: `203.0.113.${round}` })).to.include({ status: 401 });
        await check(PASSWORD, { address: `203.0.113.${round}` });
      }
    });

    it('does not count a correct password that is denied for its role', async () => {
      await make('guide', 'installer');
      for (let i = 0; i < 20; i++) {
        expect(await refused(check(PASSWORD, { username: 'guide' }))).to.include({ status: 403 });
      }
    });

    it('admits a trusted device while the account is locked, with a separate count', async () => {
      const { id } = await s.accounts.findByUsername('ada');
      const device = s.devices.issue(id);
      for (let i = 0; i < 6; i++) await wrong();
      expect(await refused(check(PASSWORD))).to.include({ status: 429 });
      expect(await check(PASSWORD, { device })).to.include({ username: 'ada' });
      for (let i = 0; i < 6; i++) expect(await wrong({ device })).to.include({ status: 401 });
      expect(await refused(check(PASSWORD, { device }))).to.include({ status: 429 });
      expect(await check(PASSWORD, { device: s.devices.issue(id) })).to.include({ username: 'ada' });
    });

    it('rejects a forged device cookie and one of another account', async () => {
      const ada = await s.accounts.findByUsername('ada');
      const spare = await s.accounts.findByUsername('spare');
      const cookie = s.devices.issue(spare.id);
      for (const device of [cookie, `${cookie.slice(0, -1)}x`, 'x', '', `${'a'.repeat(22)}.${'b'.repeat(43)}`]) {
        expect(s.devices.read(device, ada.id), device).to.equal(null);
      }
      expect(s.devices.read(cookie, spare.id)).to.equal(cookie.slice(0, 22));
    });

    it('allows six of a hundred parallel guesses, then delays the rest', async () => {
      const errors = await Promise.all(Array.from({ length: 100 }, () => wrong()));
      expect(errors.filter(({ status }) => status === 401)).to.have.length(6);
      expect(errors.filter(({ status }) => status === 429)).to.have.length(94);
    });

    it('allows no additional guesses when several processes share the account', async () => {
      const PROCESSES = 3;
      w.others[RUNTIME.name] = { countProcesses: () => PROCESSES };
      const processes = await Promise.all(Array.from({ length: PROCESSES }, () => services(w)));
      const guesses = Array.from({ length: 99 }, (_, i) => wrong({}, processes[i % PROCESSES]));
      const passed = (await Promise.all(guesses)).filter(({ status }) => status === 401).length;
      // What the others have under way is not known here, so each may add one to the six.
      expect(passed).to.be.within(6, 6 + PROCESSES);
    });

    it('accepts fifty parallel logins with the correct password', async () => {
      const results = await Promise.allSettled(
        Array.from({ length: 50 }, () => check(PASSWORD, { place: 'release_store' })),
      );
      expect(results.filter(({ status }) => status === 'fulfilled')).to.have.length(50);
    });

    it('clears the count after a day without failures', async () => {
      for (let i = 0; i < 6; i++) await wrong();
      w.clock.forward(86_400_001);
      for (let i = 0; i < 6; i++) expect(await wrong()).to.include({ status: 401 });
      expect(await wrong()).to.include({ status: 429 });
      w.clock.forward(2 * 86_400_000);
      expect(await s.throttle.sweep()).to.equal(2);
    });
  });
});
