/**
 * One damaged row of the embedded store: what is about it is 500, lists name it, health and the log
 * too, and the service goes on.
 */
import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Connection } from '../../../adapters/sqlite/connection/connection.js';
import { getCredentialName } from '../../../lib/formats/license-key.js';
import { waitUntil } from '../../harness.js';
import { packageOf } from '../../plugins/releases/fixture.js';
import { ADMIN_ACCOUNT, TestService } from '../../support/service.js';
import { BrowserVisitor } from '../../support/browser-visitor.js';

const LIST = '/api/bugtracker/v1/bugs';
const SHARED_KEY = 'a-key-between-two-servers';

describe('damaged row', function () {
  let service: TestService;
  let token = '';
  before(async () => {
    service = await TestService.createStarted({ SVC_SHARED_KEY: SHARED_KEY });
    await service.createProject('shop');
    token = await service.createToken('bugtracker:report,bugtracker:read,bugtracker:manage');
  });
  after(() => service.dispose());

  const report = async (word: string): Promise<number> => {
    const body = {
      project: 'shop',
      error_level: 'error',
      error_message: `Title number ${word}`,
      exception_class: `Fault_${word}`,
    };
    return (await service.request('POST', '/api/errors/v1/report', token, body)).status;
  };
  const get = async (path: string): Promise<number> => (await service.request('GET', path, token)).status;

  it('fails only its own requests, with a warning in lists and health, and does not stop the service', async () => {
    for (const word of ['one', 'two', 'three']) expect(await report(word)).to.equal(201);
    const { body: list } = await service.request('GET', LIST, token);
    expect(list).to.not.have.property('warnings');
    const [first = '', second = '', third = ''] = (list['items'] as { id: string }[]).map(({ id }) => id);
    const connection = new Connection({ path: join(service.dataDir, 'aos.db'), durability: 'full' });
    const at = `instr(body, 'Title number')`;
    connection.driver.exec(
      `UPDATE bugs_items SET body = CAST(substr(body, 1, ${at}) || x'ff' || substr(body, ${at} + 2) AS TEXT) WHERE id = '${second}'`,
    );
    connection.close();
    const { pid } = service.child ?? {};
    for (let round = 0; round < 2; round++) {
      const { status, body } = await service.request('GET', `${LIST}/${second}`, token);
      expect([status, (body['error'] as { code: string }).code]).to.deep.equal([500, 'internal_error']);
      for (const query of ['', '?updated_since=2020-01-01T00:00:00Z', '?q=number', '?limit=2&order=asc']) {
        const found = await service.request('GET', `${LIST}${query}`, token);
        expect(found.status, query).to.equal(200);
        const ids = (found.body['items'] as { id: string }[]).map(({ id }) => id);
        expect(ids, query).to.include(third).and.not.include(second);
        expect(found.body['warnings'], query).to.deep.equal([
          `the document "${second}" of bugs_items is omitted because it is damaged; run aos doctor --deep for a fix`,
        ]);
      }
      const health = await service.request('GET', '/api/health', SHARED_KEY);
      const { database } = (health.body as { checks: { database: Record<string, unknown> } }).checks;
      expect(database).to.deep.include({ ok: true, state: 'damaged' });
      expect(database['integrity']).to.deep.include({
        ok: false,
        damage: [`the document "${second}" of bugs_items: a request could not read it`],
      });
      // It counts on the one that it knows, and makes no other.
      expect(await report('two')).to.equal(500);
      for (const id of [first, third]) expect(await get(`${LIST}/${id}`)).to.equal(200);
      expect((await service.request('GET', '/api/health/ready', null)).status).to.equal(200);
      const visitor = new BrowserVisitor(service);
      expect(await visitor.signIn(ADMIN_ACCOUNT)).to.equal(303);
      const dashboard = await visitor.get('/');
      expect(dashboard.status).to.equal(200);
      expect(await dashboard.text()).to.match(
        new RegExp(`<span class="stat-tile-label">Errors</span>\\s+<span class="stat-tile-value">${3 + round}</span>`),
      );
      expect(service.stdout).to.not.include('a part of a page failed');
      expect(await report(['four', 'five'][round] ?? '')).to.equal(201);
      const { total } = (await service.request('GET', `${LIST}?include_total=true`, token)).body;
      expect(total).to.equal(4 + round);
      expect(service.stdout + service.stderr).to.include(`the document \\"${second}\\" of bugs_items cannot be read`);
      if (round === 0) {
        expect(service.child?.pid).to.equal(pid);
        await service.stop();
        await service.start();
      }
    }
  });
});

describe('damaged row in other collections', function () {
  let service: TestService;
  before(async () => {
    service = await TestService.createStarted({ SVC_SHARED_KEY: SHARED_KEY });
  });
  after(() => service.dispose());

  /**
   * By a process of its own: what commands have opened in this one, libsql closes some time later.
   */
  const damage = async (...rows: readonly (readonly [collection: string, id: string])[]): Promise<void> => {
    const module = new URL('../../../adapters/sqlite/connection/connection.js', import.meta.url).href;
    // Nothing is left of it, its id neither.
    const sql = rows.map(([name, id]) => `UPDATE ${name} SET body = '{"broken' WHERE id = '${id}';`).join(' ');
    const script = `import { Connection } from '${module}';
      const connection = new Connection({ path: ${JSON.stringify(join(service.dataDir, 'aos.db'))}, durability: 'full' });
      connection.driver.exec(${JSON.stringify(sql)});
      connection.close();`;
    await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], { timeout: 120_000 });
  };

  it('of a monitor: the evaluator continues with all other monitors, and counts an error', async () => {
    const ping = await service.createToken('watchdog:ping,watchdog:read');
    const manage = await service.createToken('watchdog:manage');
    await service.createProject('shop');
    const bound = await service.createToken('watchdog:read', 'shop');
    const beat = (source: string): ReturnType<TestService['request']> =>
      service.request('POST', '/api/watchdog/v1/ping', ping, { source, interval: 0.05 });
    for (const source of ['above', 'sick', 'well']) expect((await beat(source)).status).to.equal(201);
    const below = { source: 'below', parent_source: 'above', interval_seconds: 0.05 };
    expect((await service.request('POST', '/api/watchdog/v1/monitors', manage, below)).status).to.equal(201);
    expect((await beat('below')).status).to.equal(200);
    const idOf = async (source: string): Promise<string> =>
      ((await service.request('GET', `/api/watchdog/v1/monitors/${source}`, ping)).body['monitor'] as { id: string })
        .id;
    const [sick, above] = [await idOf('sick'), await idOf('above')];
    await damage(['watchdog_monitors', sick], ['watchdog_monitors', above]);
    expect((await beat('sick')).status).to.equal(500);
    await waitUntil('the others are down', async () => {
      const { status, body } = await service.request('POST', '/api/watchdog/v1/evaluate', SHARED_KEY);
      expect(status).to.equal(200);
      expect(body['run']).to.include({ result: 'ok', errors: 2 });
      const states = ['well', 'below'].map(async (source) => {
        const { body: answer } = await service.request('GET', `/api/watchdog/v1/monitors/${source}`, ping);
        return (answer['monitor'] as { state: string }).state;
      });
      return (await Promise.all(states)).every((state) => state === 'down');
    });
    const listed = async (path: string, field: string): Promise<string[]> => {
      const { status, body } = await service.request('GET', path, ping);
      expect(status, path).to.equal(200);
      expect(body['warnings'], path).to.have.members(
        [sick, above].map(
          (id) =>
            `the document "${id}" of watchdog_monitors is omitted because it is damaged; run aos doctor --deep for a fix`,
        ),
      );
      return (body[field] as { source: string }[]).map(({ source }) => source);
    };
    for (const query of ['', '?tree=1', '?uptime=2', '?limit=1', '?state=down'])
      expect(await listed(`/api/watchdog/v1/status${query}`, 'monitors'), query).to.include('below');
    expect(await listed('/api/watchdog/v1/monitors', 'items')).to.deep.equal(['below', 'well']);
    // Anyone who sees a part alone is not told the names of others'.
    const shown = await service.request('GET', '/api/watchdog/v1/status', bound);
    expect(shown.body['warnings']).to.deep.equal(['damaged documents are omitted; contact an administrator']);
    expect(shown.body['monitors']).to.deep.equal([]);
    expect(await beat('sick').then(({ status }) => status)).to.equal(500);
    for (const id of [sick, above])
      expect(service.stdout).to.include(`the document \\"${id}\\" of watchdog_monitors cannot be read`);
  });

  it('of a release, project or license: a start serves all others, and loses no history', async () => {
    const token = await service.createToken('updateservice:publish,license:manage,projects:manage');
    for (const slug of ['first', 'second', 'third']) await service.createProject(slug);
    const publish = async (product: string, version: string): Promise<Response> =>
      fetch(`${service.url}/api/updateservice/v1/publish?product=${product}&version=${version}&channel=stable`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/gzip' },
        body: packageOf({ 'app.txt': `${product} ${version}` }),
      });
    const released = async (answer: Response): Promise<string> =>
      ((await answer.json()) as { release: { id: string } }).release.id;
    for (const version of ['1.0', '1.1']) expect((await publish('first', version)).status).to.equal(201);
    const broken = await released(await publish('first', '1.2'));
    expect((await publish('second', '1.0')).status).to.equal(201);
    const license = async (): Promise<{ key: string; license: { id: string } }> => {
      const { body } = await service.request('POST', '/api/license/v1/licenses', token, { product: 'second' });
      return body as unknown as { key: string; license: { id: string } };
    };
    const { id } = (await license()).license;
    await service.stop();
    await damage(['releases_releases', broken], ['projects_projects', 'third'], ['licensing_licenses', id]);
    await service.start();

    const offered = async (product: string): Promise<unknown> => {
      const path = `/api/updateservice/v1/check?product=${product}&version=0.1`;
      const { status, body } = await service.request('GET', path, null);
      return [status, (body['release'] as { version: string } | null)?.version];
    };
    expect(await offered('first')).to.deep.equal([200, '1.1']);
    expect(await offered('second')).to.deep.equal([200, '1.0']);
    expect((await publish('second', '2.0')).status).to.equal(201);
    expect(await offered('second')).to.deep.equal([200, '2.0']);
    const releases = await service.request('GET', '/api/updateservice/v1/releases', token);
    expect(releases.status).to.equal(200);
    expect((releases.body['items'] as object[]).length).to.equal(4);
    expect(releases.body['warnings']).to.deep.equal([
      `the document "${broken}" of releases_releases is omitted because it is damaged; run aos doctor --deep for a fix`,
    ]);
    // What cannot be read is there: nobody takes its place.
    expect((await publish('first', '1.2')).status).to.equal(500);
    for (const path of ['/api/projects/v1/projects', '/api/license/v1/licenses']) {
      const { status, body } = await service.request('GET', path, token);
      expect([status, (body['warnings'] as string[]).length], path).to.deep.equal([200, 1]);
    }
    const again = await service.request('POST', '/api/projects/v1/projects', token, { slug: 'third' });
    expect(again.status).to.equal(500);

    const { key } = await license();
    const basic = `Basic ${Buffer.from(`${getCredentialName(createHash('sha256').update(key).digest('hex'))}:${key}`).toString('base64')}`;
    const package1 = `${service.url}/releases/second/stable/2.0/any/package.tar.gz`;
    await waitUntil('a new license opens the store', async () => {
      return (await fetch(package1, { method: 'HEAD', headers: { authorization: basic } })).status === 200;
    });
    // What would be written from the releases that can be read lacks one.
    expect((await publish('first', '1.3')).status).to.equal(201);
    const latest = await readFile(join(service.dataDir, 'releases/first/stable/latest.json'), 'utf8');
    expect(
      (JSON.parse(latest) as { releases: { version: string }[] }).releases.map(({ version }) => version),
    ).to.include('1.2');
    for (const row of [
      `${broken}\\" of releases_releases`,
      'third\\" of projects_projects',
      `${id}\\" of licensing_licenses`,
    ])
      expect(service.stdout).to.include(row);
  });
});
