/**
 * Accounts as the release store needs them: who may enter, a mark of it, and word of every change
 * (ports/domain/access.ts).
 */
import 'reflect-metadata';
import { expect } from 'chai';
import { extend } from '../../../../kernel/contract/index.js';
import type { Account } from '../../../../plugins/access/model/account.js';
import type { AccessServices } from '../../../../plugins/access/services.js';
import { ACCOUNT_CHANGE_LISTENERS, type AccountCredential } from '../../../../ports/domain/access.js';
import { fixtureOn, PASSWORD, services, type Fixture } from '../fixture.js';

describe('access: account directory', () => {
  let w: Fixture;
  let s: AccessServices;
  /** What stood in the directory each time a watcher was told. */
  let reported: string[];

  beforeEach(async () => {
    w = await fixtureOn();
    s = await services(w);
    reported = [];
    w.added.push(
      extend(ACCOUNT_CHANGE_LISTENERS, { onChange: async () => void reported.push(await s.directory.getRevision()) }),
    );
  });

  const make = (username: string, role = 'admin') =>
    s.accounts.create('system', { username, role, password: PASSWORD });
  const open = async (): Promise<AccountCredential[]> => {
    const found: AccountCredential[] = [];
    for await (const account of s.directory.iterateCredentials()) found.push(account);
    return found;
  };

  it('lists every enabled account of any role, sorted by name, with its stored hash', async () => {
    for (const [name, role] of [
      ['zoe', 'installer'],
      ['Ada', 'admin'],
      ['max', 'member'],
    ] as const)
      await make(name, role);
    const gone = await make('off', 'member');
    await s.accounts.setDisabled('system', gone.id, true);
    const rows = w.store.collection<Account>('access_accounts');
    const { items } = await rows.find({ filter: { disabled: false }, sort: [['username_key', 'asc']] });
    expect(await open()).to.deep.equal(
      items.map(({ username, role, password_hash: hash }) => ({ username, role, hash })),
    );
    expect((await open()).map(({ username }) => username)).to.deep.equal(['Ada', 'max', 'zoe']);
    expect(await s.directory.listUsernames(10)).to.deep.equal(['Ada', 'max', 'zoe']);
    expect(await s.directory.listUsernames(1)).to.deep.equal(['Ada']);
  });

  it('reads all pages of accounts', async () => {
    const rows = w.store.collection<Account>('access_accounts');
    const { id } = await make('first');
    const first = (await rows.get(id)) as Account;
    for (let i = 0; i < 1_100; i++)
      await rows.insert({ ...first, id: `x${i}`, username: `u${i}`, username_key: `u${i}`, disabled: i % 2 === 1 });
    expect(await open()).to.have.length(551);
  });

  it('changes the version marker and notifies watchers on a change of name, role, hash or state', async () => {
    let before = await s.directory.getRevision();
    let times = 0;
    const changes: [string, () => Promise<unknown>][] = [
      ['made', () => make('ada')],
      ['made too', () => make('max', 'member')],
      ['role', async () => s.accounts.setRole('system', (await s.accounts.findByUsername('max')).id, 'installer')],
      [
        'password',
        async () => s.accounts.setPassword('system', (await s.accounts.findByUsername('max')).id, `${PASSWORD}2`),
      ],
      ['disabled', async () => s.accounts.setDisabled('system', (await s.accounts.findByUsername('max')).id, true)],
    ];
    for (const [what, change] of changes) {
      await change();
      const mark = await s.directory.getRevision();
      expect(mark, what).to.not.equal(before);
      expect(reported.at(-1), what).to.equal(mark);
      expect(reported, what).to.have.length(++times);
      before = mark;
    }
    await s.accounts.setDisabled('system', (await s.accounts.findByUsername('max')).id, false);
    await s.accounts.remove('system', (await s.accounts.findByUsername('max')).id);
    expect(reported).to.have.length(7);
    expect(reported.at(-1)).to.equal(await s.directory.getRevision());
  });

  it('leaves the version marker unchanged and notifies no watcher on other changes', async () => {
    const { id } = await make('ada');
    const mark = await s.directory.getRevision();
    const before = reported.length;
    await s.accounts.setRole('system', id, 'admin');
    await s.accounts.resetTotp('system', id);
    await s.credentials.check({ username: 'ada', password: PASSWORD, address: '192.0.2.1', place: 'web' });
    expect([await s.directory.getRevision(), reported.length]).to.deep.equal([mark, before]);
  });

  it('treats a hash that is renewed at login as a change', async () => {
    const { id } = await make('ada');
    const rows = w.store.collection<Account>('access_accounts');
    const account = (await rows.get(id)) as Account;
    await rows.change({ id }, { set: { password_hash: account.password_hash.replace('$2y$12$', '$2y$10$') } });
    const mark = await s.directory.getRevision();
    await s.credentials.check({ username: 'ada', password: PASSWORD, address: '192.0.2.1', place: 'web' });
    expect((await open())[0]?.hash).to.match(/^\$2y\$12\$/);
    expect(reported.at(-1)).to.equal(await s.directory.getRevision());
    expect(reported.at(-1)).to.not.equal(mark);
  });

  it('ignores errors thrown by a watcher', async () => {
    w.added.unshift(
      extend(ACCOUNT_CHANGE_LISTENERS, {
        onChange: async () => {
          throw new Error('no disk');
        },
      }),
    );
    expect(await make('ada')).to.include({ username: 'ada' });
    expect(reported).to.have.length(1);
  });
});
