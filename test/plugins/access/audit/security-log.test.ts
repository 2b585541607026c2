/**
 * The security log: what is written, and that a flood of the same writes little (contract 80, audit
 * log).
 */
import 'reflect-metadata';
import { expect } from 'chai';
import { ServiceError } from '../../../../kernel/errors.js';
import type { AuditEntry } from '../../../../ports/domain/audit.js';
import { MAX_ENTRIES_PER_WINDOW } from '../../../../plugins/access/audit/security-log.js';
import { services, fixtureOn, PASSWORD } from '../fixture.js';
import type { AccessServices } from '../../../../plugins/access/services.js';
import { refused } from '../refused.js';
import { HttpFixture } from '../http-fixture.js';

const FROM = { address: '203.0.113.7', request_id: 'req-1', place: 'web' } as const;

async function entries(s: AccessServices): Promise<AuditEntry[]> {
  await s.background.waitUntilIdle();
  return (await s.audit.listRecent(500)).items;
}

describe('access: security log', () => {
  let s: AccessServices;
  beforeEach(async () => {
    s = await services(await fixtureOn());
    await s.accounts.create('system', { username: 'ada', role: 'admin', password: PASSWORD });
  });
  afterEach(() => s.background.waitUntilIdle());

  it('records logins and failures with address and request id, without the input', async () => {
    await s.credentials.check({ username: 'ada', password: PASSWORD, ...FROM });
    await refused(s.credentials.check({ username: 'ada', password: 'wrong', ...FROM }));
    await refused(s.credentials.check({ username: 'my-secret-typed-here', password: 'wrong', ...FROM }));
    const all = await entries(s);
    const details = { address: FROM.address, request_id: FROM.request_id, count: 1 };
    for (const [action, target] of [
      ['login.succeeded', 'ada'],
      ['login.failed', 'ada'],
      ['login.failed', 'an unknown account'],
    ]) {
      const found = all.find((entry) => entry.action === action && entry.target === target);
      expect(found, `${action} ${target}`).to.deep.include({ actor: 'public', details });
    }
    expect(JSON.stringify(all)).to.not.include('my-secret-typed-here');
  });

  it('counts a wrong code or password of a signed-in account as a failure', async () => {
    const account = await s.accounts.findByUsername('ada');
    await refused(s.credentials.confirmPassword(account, 'wrong', FROM.address, undefined));
    const code = async (): Promise<void> => {
      throw new ServiceError('invalid_credentials', 'The code is wrong.');
    };
    await refused(s.credentials.withSecurityLog(account, FROM, code));
    s.security.flush();
    const failed = (await entries(s)).filter(({ action }) => action === 'login.failed');
    expect(failed.map(({ target }) => target)).to.deep.equal(['ada', 'ada']);
  });

  it('logs an account lock and many failures of one network as two entries', async () => {
    for (let i = 0; i < 30; i++) await refused(s.credentials.check({ username: 'ada', password: `no${i}`, ...FROM }));
    s.security.flush();
    const all = (await entries(s)).filter(({ action }) => action.startsWith('login.'));
    expect(
      all.filter(({ action }) => action === 'login.locked').reduce((n, e) => n + Number(e.details['count']), 0),
    ).to.be.above(20);
    expect(all.length).to.be.at.most(4);
  });

  it('limits the entries of a distributed attack and records their total', async () => {
    for (let i = 0; i < 5_000; i++) {
      const address = `198.${i >> 16}.${(i >> 8) & 255}.${i & 255}`;
      s.security.record({ event: 'credential.refused', target: '/api/x', address, request_id: null });
    }
    s.security.flush();
    const all = (await entries(s)).filter(({ action }) => action === 'credential.refused');
    expect(all.length).to.be.at.most(MAX_ENTRIES_PER_WINDOW + 1);
    expect(all.reduce((n, entry) => n + Number(entry.details['count']), 0)).to.equal(5_000);
  });

  it('logs changed fields before and after, secrets only as set, and the command', async () => {
    const { id } = await s.accounts.create('system', { username: 'eve', role: 'member', password: PASSWORD });
    await s.accounts.setRole('command line: aos user role', id, 'installer');
    await s.accounts.setPassword('command line: aos user passwd', id, `${PASSWORD}-2`);
    const all = await entries(s);
    expect(all.find(({ action }) => action === 'user.role_changed')).to.deep.include({
      actor: 'command line: aos user role',
      before: { role: 'member' },
      after: { role: 'installer' },
    });
    const changed = all.find(({ action }) => action === 'user.password_changed');
    expect(changed).to.deep.include({ before: { password: 'set' }, after: { password: 'set' } });
    expect(JSON.stringify(all)).to.not.include(PASSWORD);
  });

  it('counts failed logins on a page per address, like rejected tokens', async () => {
    const fixture = await HttpFixture.open({ limits: { auth_failures_per_minute: 3 } });
    try {
      const statuses: number[] = [];
      for (const username of ['a1', 'b2', 'c3', 'd4'])
        statuses.push((await fixture.browser().post('/login', { username, password: 'wrong' })).status);
      expect(statuses).to.deep.equal([401, 401, 401, 429]);
    } finally {
      await fixture.stop();
    }
  });

  it('logs rejected tokens, scopes and forms, and provisioning, through the real server', async () => {
    const fixture = await HttpFixture.open();
    try {
      await fixture.api('GET', '/api/tokens/v1/self', `svc_live_${'x'.repeat(43)}`);
      await fixture.api('GET', '/api/projects/v1/projects', await fixture.token(['bugtracker:report']));
      await fixture.api('POST', '/api/tokens/v1/provision', await fixture.token(['bugtracker:report']), {
        name: 'sub',
      });
      await (await fixture.signedIn()).raw('/logout', {});
      const actions = (await fixture.parts.audit.listRecent(100)).items.map(({ action }) => action);
      expect(actions).to.include.members([
        'credential.refused',
        'csrf.refused',
        'token.provisioned',
        'login.succeeded',
      ]);
    } finally {
      await fixture.stop();
    }
  });
});
