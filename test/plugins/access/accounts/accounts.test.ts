/**
 * Accounts, names, passwords, the last administrator, the first one (contract 10, accounts;
 * contract 00, first start).
 */
import 'reflect-metadata';
import { expect } from 'chai';
import type { Account } from '../../../../plugins/access/model/account.js';
import { checkUsername, toUsernameKey } from '../../../../plugins/access/model/account.js';
import type { AccessServices } from '../../../../plugins/access/services.js';
import { findPasswordProblem } from '../../../../plugins/access/model/password.js';
import access from '../../../../plugins/access/plugin.js';
import type { RosterDoc } from '../../../../plugins/access/accounts/roster.js';
import { PASSWORD, services, fixtureOn, type Fixture } from '../fixture.js';
import { refused } from '../refused.js';

describe('access: accounts', () => {
  let w: Fixture;
  let s: AccessServices;
  const rows = () => w.store.collection<Account>('access_accounts');
  const roster = () => w.store.collection<RosterDoc>('access_roster');
  const make = (username: string, role = 'admin') =>
    s.accounts.create('system', { username, role, password: PASSWORD });
  const activeAdmins = async () =>
    (await s.accounts.list()).filter(({ role, disabled }) => role === 'admin' && !disabled);

  beforeEach(async () => {
    w = await fixtureOn();
    s = await services(w);
  });

  describe('names', () => {
    for (const bad of [
      '',
      ' ada',
      'ada ',
      'a:b',
      '#ada',
      'lic_1234',
      'LIC_x',
      'a\nb',
      'a\u0000',
      'a\u202eb',
      'a\ud800',
      'x'.repeat(65),
    ]) {
      it(`rejects ${JSON.stringify(bad)}`, async () => {
        const error = await refused(make(bad));
        expect(error).to.include({ status: 422, code: 'validation_failed' });
        expect(error.fields).to.have.property('username');
      });
    }

    it('accepts names in any script, normalized to NFC', () => {
      expect(checkUsername('Jose\u0301')).to.deep.equal({ username: 'Jos\u00e9' });
      expect(checkUsername('a#b.c@d')).to.deep.equal({ username: 'a#b.c@d' });
    });

    it('rejects a duplicate name in any case or Unicode form', async () => {
      await make('Jos\u00e9');
      expect(await refused(make('JOSE\u0301'))).to.include({ status: 409, code: 'conflict' });
      expect(toUsernameKey('JOSE\u0301')).to.equal(toUsernameKey('jos\u00e9'));
    });

    it('creates exactly one account for parallel requests with the same name', async () => {
      const results = await Promise.allSettled(Array.from({ length: 10 }, () => make('ada')));
      expect(results.filter(({ status }) => status === 'fulfilled')).to.have.length(1);
      expect(await s.accounts.list()).to.have.length(1);
    });
  });

  describe('passwords', () => {
    for (const bad of [
      'short-one',
      'password1234',
      'Password123!',
      'P@ssw0rd2024!',
      'passwordpassword',
      '123456789012',
      'qwertyuiop123',
      'QwErTy123456',
      'aaaaaaaaaaaa',
      'abcabcabcabc',
      'abcdefghijkl',
      'letmein12345',
      'administrator',
      'changemechangeme',
      'correct\u0000horse!!',
      'é'.repeat(37),
    ]) {
      it(`rejects ${JSON.stringify(bad)}`, () => {
        expect(findPasswordProblem(bad, 'ada')).to.be.a('string');
      });
    }

    it('rejects the account name as password, also with digits appended', () => {
      expect(findPasswordProblem('Margaret.Hamilton', 'margaret.hamilton')).to.equal('must not be the account name');
      expect(findPasswordProblem('margarethamilton1969', 'margarethamilton')).to.equal('must not be the account name');
      expect(findPasswordProblem('hoppehoppehoppe', 'hoppe')).to.equal('must not be the account name');
    });

    for (const good of [
      PASSWORD,
      'correct horse battery staple',
      'Tr0ub4dor&3-xk',
      'Ünïcödé-wörter!',
      'x7'.padEnd(72, 'kqzvbn-MEL '),
    ]) {
      it(`accepts ${JSON.stringify(good)}`, () => {
        expect(findPasswordProblem(good, 'ada')).to.equal(null);
      });
    }

    it('returns 422 with the field and leaves the old password unchanged', async () => {
      const { id } = await make('ada');
      const before = await rows().get(id);
      const error = await refused(s.accounts.setPassword('system', id, 'password1234'));
      expect(error).to.include({ status: 422, code: 'validation_failed' });
      expect(error.fields).to.have.property('password');
      expect(await rows().get(id)).to.deep.equal(before);
    });
  });

  it('rejects an invalid role', async () => {
    const error = await refused(make('ada', 'owner'));
    expect(error).to.include({ status: 422 });
    expect(error.fields).to.have.all.keys('role');
  });

  it('never exposes hashes, secrets or keys', async () => {
    const view = await make('ada');
    expect(Object.keys(view).join(' ')).to.equal(
      'id username role disabled totp passkeys issuer has_password full_name email created_at last_login_at',
    );
  });

  describe('the last active administrator', () => {
    it('cannot be demoted, disabled or deleted', async () => {
      const { id } = await make('ada');
      await make('bob', 'member');
      const off = await make('eve');
      await s.accounts.setDisabled('system', off.id, true);
      for (const attempt of [
        () => s.accounts.setRole('system', id, 'member'),
        () => s.accounts.setDisabled('system', id, true),
        () => s.accounts.remove('system', id),
      ]) {
        expect(await refused(attempt())).to.include({ status: 409, code: 'conflict' });
      }
      expect(await rows().get(id)).to.include({ role: 'admin', disabled: false, epoch: 0 });
    });

    it('survives 20 parallel demotions, disablings and deletions from two processes', async () => {
      const other = await services(w);
      const admins = [];
      for (let i = 0; i < 20; i++) admins.push(await make(`admin-${i}`));
      const ways = [
        (p: AccessServices, id: string) => p.accounts.setRole('system', id, 'member'),
        (p: AccessServices, id: string) => p.accounts.setDisabled('system', id, true),
        (p: AccessServices, id: string) => p.accounts.remove('system', id),
      ];
      const calls = admins.map(({ id }, i) => (ways[i % 3] as (typeof ways)[0])(i % 2 === 0 ? s : other, id));
      const results = await Promise.allSettled(calls as Promise<unknown>[]);
      expect(results.filter(({ status }) => status === 'rejected')).to.have.length(1);
      expect(await activeAdmins()).to.have.length(1);
      expect(await roster().get('admins')).to.deep.include({ active: [(await activeAdmins())[0]?.id], changing: [] });
    });

    it('remains when 20 parallel demotions target two administrators', async () => {
      const both = [await make('ada'), await make('bob')];
      const calls = Array.from({ length: 20 }, (_, i) => s.accounts.setRole('system', both[i % 2]?.id ?? '', 'member'));
      await Promise.allSettled(calls);
      expect(await activeAdmins()).to.have.length(1);
    });

    it('can be removed when another account is an active administrator', async () => {
      const ada = await make('ada');
      const bob = await make('bob', 'member');
      await s.accounts.setRole('system', bob.id, 'admin');
      await s.accounts.setDisabled('system', ada.id, true);
      expect(await refused(s.accounts.remove('system', bob.id))).to.include({ code: 'conflict' });
      await s.accounts.setDisabled('system', ada.id, false);
      await s.accounts.remove('system', bob.id);
      expect((await activeAdmins()).map(({ username }) => username)).to.deep.equal(['ada']);
    });

    it('is counted exactly once after a crash in the middle of a change', async () => {
      const [ada, bob] = [await make('ada'), await make('bob')];
      // As a process leaves it that dies after the first step of demoting ada.
      const note = { account: ada.id, change: 'dead', at: w.clock.iso() };
      await roster().change({ id: 'admins' }, { set: { active: [bob.id], changing: [note] } });
      expect(await refused(s.accounts.setRole('system', bob.id, 'member'))).to.include({ code: 'conflict' });
      expect(await refused(s.accounts.setRole('system', ada.id, 'member'))).to.include({ code: 'conflict' });
      w.clock.forward(61_000);
      await s.roster.reconcile();
      expect((await roster().get('admins'))?.active).to.have.members([ada.id, bob.id]);
      await s.accounts.setRole('system', bob.id, 'member');
      expect((await activeAdmins()).map(({ id }) => id)).to.deep.equal([ada.id]);
    });

    it('is reconciled by several processes concurrently without errors', async () => {
      const [ada, bob] = [await make('ada'), await make('bob')];
      await roster().change({ id: 'admins' }, { set: { active: [] } });
      const processes = await Promise.all(Array.from({ length: 6 }, () => services(w)));
      await Promise.all(processes.map((p) => p.roster.reconcile()));
      expect((await roster().get('admins'))?.active).to.have.members([ada.id, bob.id]);
      expect((await roster().get('admins'))?.changing).to.deep.equal([]);
    });

    it('rejects the write of a stalled change that another process has reconciled', async () => {
      const [ada, bob] = [await make('ada'), await make('bob')];
      const stalled = await rows().get(ada.id);
      const note = { account: ada.id, change: 'stalled', at: w.clock.iso() };
      await roster().change({ id: 'admins' }, { set: { active: [bob.id], changing: [note] }, inc: { rev: 1 } });
      w.clock.forward(61_000);
      await s.roster.reconcile();
      const late = await rows().change(
        { id: ada.id, rights_rev: stalled?.rights_rev ?? -1 },
        { set: { role: 'member' } },
      );
      expect(late).to.equal(null);
    });
  });

  describe('the first administrator', () => {
    it('gets a random password that is shown only once', async () => {
      const first = await s.first.ensureAdmin();
      expect(first?.username).to.equal('admin');
      expect(first?.password).to.match(/^[0-9A-Za-z]{20}$/);
      expect(await s.first.ensureAdmin()).to.equal(null);
      expect(await activeAdmins()).to.have.length(1);
    });

    it('gets the configured name and password, and prints no password', async () => {
      const given = await services(w, { admin_user: 'root.ops', admin_password: PASSWORD });
      expect(await given.first.ensureAdmin()).to.deep.equal({ username: 'root.ops', password: null });
      const info = { username: 'ROOT.ops', password: PASSWORD, address: '192.0.2.1', place: 'web' } as const;
      expect(await given.credentials.check(info)).to.include({ role: 'admin' });
    });

    it('fails configuration validation with an invalid name or password', () => {
      const section = (given: object) => access.config?.validate(given);
      for (const [bad, why] of [
        [{ admin_password: 'password1234' }, 'is too common'],
        [{ admin_password: 'short' }, 'must have at least 12 characters'],
        [{ admin_password: '' }, 'is not allowed to be empty'],
        [{ admin_user: 'a:b' }, 'must not contain a colon'],
      ] as const) {
        expect(section(bad)?.error?.message).to.include(why);
      }
      expect(section({})?.value).to.include({ admin_user: 'admin', admin_password: null });
    });

    it('fails configuration validation when the password equals the name', async () => {
      const weak = await services(w, { admin_user: 'margarethamilton', admin_password: 'margarethamilton' });
      expect(await refused(weak.first.ensureAdmin())).to.include({ code: 'validation_failed' });
      expect(await s.accounts.list()).to.have.length(0);
    });

    it('is created only once when eight processes with different names start together', async () => {
      const processes = await Promise.all(
        Array.from({ length: 8 }, (_, i) => services(w, { admin_user: `admin${i}` })),
      );
      const reported = await Promise.all(processes.map((p) => p.first.ensureAdmin()));
      expect(reported.filter((one) => one !== null)).to.have.length(1);
      expect(await s.accounts.list()).to.have.length(1);
    });

    it('shows its password although another process reconciles the administrator list', async () => {
      const note = { account: '00000000-0000-7000-8000-000000000001', change: 'other', at: w.clock.iso() };
      await roster().insert({ id: 'admins', rev: 0, active: [], changing: [note] });
      expect((await s.first.ensureAdmin())?.password).to.be.a('string');
    });

    it('is not created when an account already exists', async () => {
      await make('bob', 'member');
      expect(await s.first.ensureAdmin()).to.equal(null);
    });
  });
});
