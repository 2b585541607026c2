/** `aos token`, `aos user` and `aos project`, as the command line calls them (contract 95). */
import 'reflect-metadata';
import { expect } from 'chai';
import access from '../../../plugins/access/plugin.js';
import projects from '../../../plugins/projects/plugin.js';
import type { CommandResult, CommandSpec } from '../../../kernel/contract/index.js';
import { AUTHENTICATOR, CREDENTIALS } from '../../../ports/domain/access.js';
import type { Authenticator } from '../../../ports/http/index.js';
import type { CredentialCheck } from '../../../ports/domain/access.js';
import { PASSWORD, setUp, fixtureOn, type Fixture } from './fixture.js';
import { refused } from './refused.js';

describe('access and projects: commands', () => {
  let w: Fixture;
  let commands: CommandSpec[];

  const run = (
    name: string,
    options: Record<string, string | boolean> = {},
    args: string[] = [],
    stdin = '',
  ): Promise<CommandResult> => {
    const command = commands.find((one) => one.name === name);
    if (command === undefined) throw new Error(`no command ${name}`);
    return command.run({ args, options, stdin: async () => stdin });
  };
  const json = async (...call: Parameters<typeof run>): Promise<Record<string, unknown>> =>
    (await run(...call)).json as Record<string, unknown>;
  const check = (username: string, password: string): Promise<unknown> =>
    (w.others[CREDENTIALS.name] as CredentialCheck).check({
      username,
      password,
      address: '192.0.2.1',
      place: 'release_store',
    });

  beforeEach(async () => {
    w = await fixtureOn();
    const parts = [await setUp(access, w), await setUp(projects, w)];
    commands = parts.flatMap((one) => one.commands ?? []);
    await run('user create', { username: 'root', role: 'admin', 'password-stdin': true }, [], `${PASSWORD}\n`);
  });

  it('user create prints id, username and role, and reads the password from standard input', async () => {
    const made = await json(
      'user create',
      { username: 'ada', role: 'member', 'password-stdin': true },
      [],
      `${PASSWORD}\r\n`,
    );
    expect(made).to.have.all.keys('id', 'username', 'role');
    expect(made).to.include({ username: 'ada', role: 'member' });
    expect(await check('ada', PASSWORD)).to.include({ username: 'ada' });
    expect(await refused(run('user create', { username: 'ada', role: 'member' }))).to.include({ code: 'conflict' });
    expect(
      await refused(run('user create', { username: 'eve', role: 'member', 'password-stdin': true }, [], 'short\n')),
    ).to.include({ code: 'validation_failed' });
  });

  it('user create and passwd print a random password when standard input is empty', async () => {
    const made = await json('user create', { username: 'ada', role: 'installer' });
    expect(await check('ada', String(made['password']))).to.include({ username: 'ada' });
    const changed = await json('user passwd', { username: 'ADA' });
    expect(await check('ada', String(changed['password']))).to.include({ username: 'ada' });
    expect(await refused(check('ada', String(made['password'])))).to.include({
      code: 'invalid_credentials',
    });
  });

  it('supports user role, disable, enable, totp, list and delete', async () => {
    await run('user create', { username: 'ada', role: 'member' });
    expect(await json('user role', { username: 'ada', role: 'installer' })).to.include({
      username: 'ada',
      role: 'installer',
    });
    expect(await json('user disable', { username: 'ada' })).to.include({ disabled: true });
    expect(await json('user enable', { username: 'ada' })).to.include({ disabled: false });
    expect(await json('user totp', { username: 'ada' })).to.include({ totp: false });
    const { items } = (await json('user list')) as { items: { username: string }[] };
    expect(items.map(({ username }) => username)).to.deep.equal(['ada', 'root']);
    expect(await json('user delete', { username: 'ada' })).to.include({ username: 'ada', deleted: true });
    expect(await refused(run('user delete', { username: 'ada' }))).to.include({ code: 'not_found' });
    expect(await refused(run('user role', { username: 'root', role: 'member' }))).to.include({ code: 'conflict' });
    expect(await refused(run('user role', { username: 'root', role: 'owner' }))).to.include({
      code: 'validation_failed',
    });
  });

  it('supports token create, list and revoke', async () => {
    const authenticator = w.others[AUTHENTICATOR.name] as Authenticator;
    const made = await json('token create', {
      name: 'ci',
      scopes: 'bugtracker:report, watchdog:ping',
      'expires-in': '60',
    });
    expect(made).to.deep.include({
      name: 'ci',
      kind: 'master',
      scopes: ['bugtracker:report', 'watchdog:ping'],
      created_by: 'command line',
    });
    expect(Date.parse(String(made['expires_at'])) - w.clock.now()).to.equal(60_000);
    expect(await authenticator.authenticateBearer(String(made['token']))).to.include({ id: made['id'] });
    const listed = await run('token list');
    expect(JSON.stringify(listed)).not.to.include(String(made['token']));
    expect((listed.json as { items: unknown[] }).items).to.have.length(1);
    expect(await json('token revoke', {}, [String(made['id'])])).to.include({
      id: made['id'],
      revoked_at: w.clock.iso(),
    });
    expect(await authenticator.authenticateBearer(String(made['token']))).to.equal(null);
    expect(await refused(run('token revoke', {}, ['nope']))).to.include({ code: 'not_found' });
  });

  it('supports token create with --source and --project', async () => {
    expect((await json('token create', { name: 'm', scopes: 'watchdog:ping', source: 'web-1' }))['token']).to.match(
      /^wd_live_/,
    );
    expect(await refused(run('token create', { name: 'm', scopes: 'watchdog:ping', project: 'shop' }))).to.include({
      code: 'unknown_project',
    });
    await run('project create', {}, ['shop']);
    expect(await json('token create', { name: 'm', scopes: 'watchdog:ping', project: 'shop' })).to.include({
      project: 'shop',
    });
    for (const life of ['0', '-1', 'soon', '1.5']) {
      const error = await refused(run('token create', { name: 'm', scopes: 'watchdog:ping', 'expires-in': life }));
      expect(error.fields, life).to.have.property('expires_in_seconds');
    }
    expect((await refused(run('token create', { name: 'm', scopes: 'x:y' }))).fields).to.have.property('scopes');
  });

  it('supports token create with --agent', async () => {
    const agent = 'fixer-1';
    const made = await json('token create', { name: 'one', scopes: 'bugtracker:manage', agent });
    expect(made).to.include({ agent });
    const authenticator = w.others[AUTHENTICATOR.name] as Authenticator;
    expect(await authenticator.authenticateBearer(String(made['token']))).to.include({ agent });
    expect(await json('token create', { name: 'any', scopes: 'bugtracker:manage' })).to.include({ agent: null });
  });

  it('supports project create, list and intake-key', async () => {
    expect(await json('project create', { name: 'Shop' }, ['shop'])).to.include({
      slug: 'shop',
      number: 1,
      name: 'Shop',
    });
    expect(await refused(run('project create', {}, ['shop']))).to.include({ code: 'conflict' });
    expect((await refused(run('project create', {}, ['Bad']))).fields).to.have.property('slug');
    const { items } = (await json('project list')) as { items: object[] };
    expect(items).to.have.length(1);
    const made = await json('project intake-key', {}, ['shop']);
    expect(made).to.have.all.keys('id', 'key', 'dsn');
    expect(made['dsn']).to.equal(`https://${String(made['key'])}@aos.test/ops/1`);
    expect(await refused(run('project intake-key', {}, ['nope']))).to.include({ code: 'not_found' });
  });

  it('records every change in the audit log with its command', async () => {
    await run('user create', { username: 'ada', role: 'member' });
    await run('project create', {}, ['shop']);
    const { items } = await w.store.collection<{ id: string; actor: string }>('access_audit').find();
    expect(items.map(({ actor }) => actor).sort()).to.deep.equal([
      'command line: aos project create',
      'command line: aos user create',
      'command line: aos user create',
    ]);
  });
});
