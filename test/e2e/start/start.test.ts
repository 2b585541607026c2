/**
 * The program as a stranger meets it: starts, says where it is, stops, and says in one line what is
 * wrong (contracts 00, 95).
 */
import { expect } from 'chai';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { waitUntil } from '../../harness.js';
import { ADMIN_ACCOUNT, runCli, runCliJson, SHARED_KEY, TestService } from '../../support/service.js';

describe('start: first start on the embedded store (sqlite)', () => {
  let service: TestService;
  before(async () => {
    service = await TestService.createEmpty();
    await service.start();
  });
  after(() => service.dispose());

  it('creates its store and keys in the data directory, prints the address, and writes server.json', async () => {
    const names = await readdir(service.dataDir);
    expect(names).to.include('aos.db');
    const running = JSON.parse(await readFile(join(service.dataDir, 'server.json'), 'utf8')) as {
      pid: number;
      url: string;
    };
    expect(running).to.deep.include({ pid: service.child?.pid, url: service.url });
    for (const name of names.filter((n) => n.includes('key') || n.startsWith('aos.db'))) {
      expect((await stat(join(service.dataDir, name))).mode & 0o077, name).to.equal(0);
    }
    const live = await fetch(`${service.url}/api/health/live`);
    expect(live.status).to.equal(200);
  });

  it('reports healthy without pending migrations to the shared key', async () => {
    const health = await service.request('GET', '/api/health', SHARED_KEY);
    expect(health.status).to.equal(200);
    expect(health.body['healthy']).to.equal(true);
    expect((health.body['schema'] as { pending: string[] }).pending).to.deep.equal([]);
  });

  it('logs no warning in a first start and the first runs of its jobs', async () => {
    // Each job that repeats by an interval runs as soon as the service is there.
    await waitUntil('the first jobs ran', async () => {
      const metrics = await fetch(`${service.url}/metrics`, { headers: { authorization: `Bearer ${SHARED_KEY}` } });
      const runs = (await metrics.text()).matchAll(/^aos_job_runs_total\{job="([^"]+)",result="(ok|error)"\} (\d+)$/gm);
      const ran = [...runs].filter(([, job, , count]) => job !== 'engine' && count !== '0');
      expect(ran.map(([, , result]) => result)).to.not.include('error');
      return ran.length >= 20;
    });
    expect(await service.stop('SIGTERM')).to.equal(0);
    expect(service.stdout.split('\n').filter((line) => line.startsWith('{'))).to.deep.equal([]);
    expect(service.stderr).to.equal('');
  });

  it('stops on SIGTERM with exit 0, and starts again on the same store', async () => {
    await service.createProject('shop');
    await service.start();
    const { items } = await runCliJson<{ items: { slug: string }[] }>(service.env, ['project', 'list']);
    expect(items.map((p) => p.slug)).to.deep.equal(['shop']);
  });

  it('rejects a second serve on the same store with a one-line error that names the first process', async () => {
    const second = await runCli(service.env, ['serve']);
    expect(second.code).to.equal(1);
    expect(second.stderr.trim().split('\n')).to.have.lengthOf(1);
    expect(second.stderr).to.include(String(service.child?.pid));
    expect((await fetch(`${service.url}/api/health/live`)).status).to.equal(200);
  });

  it('starts with a server.json left behind by a killed process', async () => {
    await service.stop('SIGKILL');
    expect(await readdir(service.dataDir)).to.include('server.json');
    await service.start();
    expect((await fetch(`${service.url}/api/health/live`)).status).to.equal(200);
  });
});

describe('start: service on the embedded store (sqlite)', () => {
  let service: TestService;
  afterEach(() => service.dispose());

  it('prints the generated credentials once, in plain text, and never logs them', async () => {
    service = await TestService.createEmpty({ SVC_LOG_LEVEL: 'debug' });
    delete service.env['SVC_ADMIN_PASSWORD'];
    await service.start();
    const password = /password:?\s+(\S{12,})/.exec(service.stdout)?.[1] ?? '';
    expect(password).to.match(/^\S{12,}$/);
    expect(service.stdout.split(password)).to.have.lengthOf(2);
    expect(service.stdout.split('\n').find((line) => line.includes(password))).to.not.match(/^\{/);
    await service.stop();
    await service.start();
    expect(service.stdout).to.not.include(password);
    expect(service.stdout).to.not.match(/password:?\s+\S{12,}/);
  });
});

describe('start: command line next to a running server', function () {
  let service: TestService;
  // What answers beside it is in this process.
  before(async () => (service = await TestService.createInProcess()));
  after(() => service.dispose());

  it('prints exactly one JSON document with --json', async () => {
    const made = await runCliJson(service.env, ['project', 'create', 'alpha', '--name', 'Alpha']);
    expect(made).to.deep.include({ slug: 'alpha' });
    expect(made['number']).to.be.a('number');
    const token = await runCliJson(service.env, [
      'token',
      'create',
      '--name',
      'ci',
      '--scopes',
      'bugtracker:report,bugtracker:read',
    ]);
    expect(token['token']).to.match(/^svc_live_[0-9A-Za-z]{43}$/);
    const user = await runCliJson(
      service.env,
      ['user', 'create', '--username', 'eve', '--role', 'member', '--password-stdin'],
      'a long enough password',
    );
    expect(user).to.deep.include({ username: 'eve', role: 'member' });
    const users = await runCliJson<{ items: { username: string }[] }>(service.env, ['user', 'list']);
    expect(users.items.map((u) => u.username)).to.have.members([ADMIN_ACCOUNT.username, 'eve']);
    const plugins = await runCliJson<{ items: { id: string; state: string }[] }>(service.env, ['plugin', 'list']);
    expect(plugins.items.map((p) => p.id)).to.include.members(['access', 'projects', 'bugs', 'errorstream', 'health']);
  });

  it('revokes a token immediately in the running server', async () => {
    const made = await service.runCommand<{ id: string; token: string }>([
      'token',
      'create',
      '--name',
      'gone',
      '--scopes',
      'bugtracker:read',
    ]);
    expect((await service.request('GET', '/api/bugtracker/v1/bugs', made.token)).status).to.equal(200);
    await runCliJson(service.env, ['token', 'revoke', made.id]);
    const after = await service.request('GET', '/api/bugtracker/v1/bugs', made.token);
    expect(after.status).to.equal(401);
    expect((after.body['error'] as { code: string }).code).to.equal('unauthorized');
  });

  it('returns the error envelope and exit 1 on a failure', async () => {
    await service.createProject('twice');
    const { code, stdout } = await runCli(service.env, ['project', 'create', 'twice', '--json']);
    expect(code).to.equal(1);
    expect(JSON.parse(stdout)).to.deep.include({ status: 'error' });
    expect((JSON.parse(stdout) as { error: { code: string } }).error.code).to.equal('conflict');
    const plain = await runCli(service.env, ['project', 'create', 'twice']);
    expect(plain.code).to.equal(1);
    expect(plain.stdout).to.equal('');
    expect(plain.stderr.trim().split('\n')).to.have.lengthOf(1);
  });

  for (const args of [
    ['nonsense'],
    ['token'],
    ['token', 'create'],
    ['project', 'create'],
    ['project', 'create', 'a', '--colour', 'red'],
    ['tick', '--nonsense'],
  ]) {
    it(`exits 64 on a usage error: aos ${args.join(' ')}`, async () => {
      const { code, stderr } = await runCli(service.env, args);
      expect(code, stderr).to.equal(64);
      expect(stderr).to.not.equal('');
    });
  }

  it('reports no errors in doctor', async () => {
    const { code, stdout } = await runCli(service.env, ['doctor', '--json']);
    expect(code, stdout).to.equal(0);
  });

  it('runs the tick next to a running server', async () => {
    const { code, stdout } = await runCli(service.env, ['tick', '--json']);
    expect(code, stdout).to.equal(0);
    expect(JSON.parse(stdout)).to.be.an('object');
  });
});
