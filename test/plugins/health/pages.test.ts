import { expect } from 'chai';
import { Redirect, type PageSpec, type View } from '../../../kernel/contract/index.js';
import { buildCheckRows, buildSystemPages, toHealthBadge } from '../../../plugins/health/system-pages.js';
import type { RunRecord } from '../../../ports/domain/watchdog.js';
import { renderFile } from '../../web/templates.js';
import { fakeSystem, job, request, session, fixtureOf } from './fakes.js';

type Fixture = ReturnType<typeof fixtureOf>;

function page(all: Fixture, path: string, method = 'GET'): PageSpec {
  const found = buildSystemPages(all).find((spec) => spec.path === path && (spec.method ?? 'GET') === method);
  if (!found) throw new Error(`no page ${method} ${path}`);
  return found;
}

async function shown(all: Fixture, path: string, role: 'admin' | 'member', query = {}): Promise<string> {
  const view = (await page(all, path).handle(request(session(role), { path, query }))) as View;
  const context = { ...view.context, path, query, csrf_token: 'token' };
  return renderFile(`plugins/health/views/${view.template}.hbs`, context);
}

const pending = { applied: [], pending: ['bugs:002-b', 'bugs:003-c'], current: null };

describe('/migrations', () => {
  it('shows applied and pending migrations, and allows administrators to run them', async () => {
    const all = fixtureOf(fakeSystem({ listMigrations: () => Promise.resolve(pending) }));
    const html = await shown(all, '/migrations', 'admin');
    expect(html).to.include('bugs:002-b').and.include('Applies 2 migrations').and.include('action="/migrations"');
    expect(html.match(/<h1/g)).to.have.length(1);
  });

  it('shows members the command instead', async () => {
    const all = fixtureOf(fakeSystem({ listMigrations: () => Promise.resolve(pending) }));
    const html = await shown(all, '/migrations', 'member');
    expect(html).to.include('aos migrate').and.not.include('<form');
    expect(page(all, '/migrations', 'POST').access).to.deep.equal({ session: 'admin' });
  });

  it('shows a badge only while a migration is pending', async () => {
    const badge = (all: Fixture): Promise<number | null> | undefined => page(all, '/migrations').nav?.badge?.();
    expect(await badge(fixtureOf(fakeSystem()))).to.equal(null);
    expect(await badge(fixtureOf(fakeSystem({ listMigrations: () => Promise.resolve(pending) })))).to.equal(2);
  });

  it('shows the result of a short run on the next page', async () => {
    const all = fixtureOf(fakeSystem({ migrate: () => Promise.resolve({ applied: ['bugs:002-b'], pending: [] }) }));
    const answer = (await page(all, '/migrations', 'POST').handle(request(session('admin')))) as Redirect;
    expect(answer).to.be.instanceOf(Redirect).and.include({ location: '/migrations' });
    expect(answer.flash).to.deep.equal({ tone: 'success', message: '1 migration applied.' });
    expect(all.recorded).to.have.length(1);
  });

  it('shows the progress of a long run and refreshes the page', async () => {
    let finish = (): void => {};
    const long = new Promise<{ applied: string[]; pending: string[] }>((resolve) => {
      finish = () => resolve({ applied: ['bugs:002-b'], pending: [] });
    });
    const all = fixtureOf(
      fakeSystem({
        listMigrations: () => Promise.resolve({ ...pending, pending: ['bugs:003-c'] }),
        migrate: () => long,
      }),
    );
    const outcome = await all.run.start(session('admin'), 2, 1);
    expect(outcome).to.equal(null);
    const view = (await page(all, '/migrations').handle(request(session('admin')))) as View;
    expect(view.context).to.deep.include({ refresh_seconds: 2 });
    const html = await shown(all, '/migrations', 'admin');
    expect(html).to.include('role="progressbar" max="2" value="1"').and.not.include('<form');
    finish();
    await all.run.waitUntilIdle();
    expect(all.run.currentRun).to.equal(null);
  });

  it('reports a failed run on the page too', async () => {
    const all = fixtureOf(fakeSystem({ migrate: () => Promise.reject(new Error('bugs:002-b: duplicate <key>')) }));
    const answer = (await page(all, '/migrations', 'POST').handle(request(session('admin')))) as Redirect;
    expect(answer.flash?.tone).to.equal('danger');
    expect(await shown(all, '/migrations', 'admin'))
      .to.include('bugs:002-b: duplicate &lt;key&gt;')
      .and.include('role="alert"');
    expect(all.run.currentRun).to.equal(null);
  });
});

describe('/system', () => {
  it('shows health, plugins with reasons, jobs, versions and the audit log, escaped', async () => {
    const system = fakeSystem({
      listPlugins: () => [
        {
          id: 'chat',
          title: 'Chat',
          version: '1.0.0',
          critical: false,
          decides_health: false,
          state: 'failed',
          reason: '<b>no</b> server',
        },
      ],
    });
    const all = fixtureOf(system, [job('bugs.outbox', { fail_reason: 'Error: <i>', fail_count: 2 }), job('bugs.new')]);
    const html = await shown(all, '/system', 'member');
    for (const text of [
      'AOS 1.2.3',
      'v20.19.5',
      'memory',
      '1.0 KiB',
      '9.3 GiB',
      'Not installed',
      'bugs.outbox',
      'project.created',
    ]) {
      expect(html, text).to.include(text);
    }
    expect(html).to.include('&lt;b&gt;no&lt;/b&gt; server').and.include('Error: &lt;i&gt;').and.include('&lt;shop&gt;');
    expect(html).not.to.match(/<b>no|<i>|<shop>/);
    expect(html.match(/<h1/g)).to.have.length(1);
  });

  it('shows the newest audit log entries and the evaluator runs', async () => {
    const all = fixtureOf(fakeSystem());
    expect(await shown(all, '/system', 'admin'))
      .to.include('href="/audit"')
      .and.not.include('Monitor check runs');
    all.runs.push({
      run_id: 'r',
      trigger: 'scheduler',
      host: 'web-<1>',
      started_at: '2026-11-20T08:15:00.000Z',
      finished_at: '2026-11-20T08:15:00.042Z',
      duration_ms: 42,
      result: 'ok',
      evaluated: 17,
      to_down: 3,
      alarms_emitted: 1,
      alarms_suppressed: 2,
    } as RunRecord);
    expect(await shown(all, '/system', 'admin'))
      .to.include('Monitor check runs')
      .and.include('web-&lt;1&gt;')
      .and.include('42 ms')
      .and.include('2 suppressed');
  });

  it('shows healthy, with the number of failed checks in amber', async () => {
    const failing = fixtureOf(fakeSystem(), [job('a.b', { fail_reason: 'x' })]);
    const report = await failing.health.getReport();
    expect(toHealthBadge({ ...report, healthy: true })).to.deep.equal({
      text: 'Degraded: 1 check failing',
      tone: 'warning',
    });
    expect(toHealthBadge({ ...report, healthy: false })).to.deep.equal({ text: 'Unhealthy', tone: 'danger' });
    const fine = await fixtureOf(fakeSystem()).health.getReport();
    expect(toHealthBadge({ ...fine, healthy: true })).to.deep.equal({ text: 'Healthy', tone: 'success' });
  });

  it('shows checks as rows and omits empty values', async () => {
    const report = await fixtureOf(fakeSystem(), [job('a.b', { fail_reason: 'x' })]).health.getReport();
    const rows = buildCheckRows(report);
    expect(rows.map((row) => row.name)).to.deep.equal([
      'database',
      'evaluator',
      'jobs',
      'webhooks',
      'release_store',
      'backups',
      'disk',
      'clock',
      'proxies',
    ]);
    expect(rows[1]).to.deep.equal({ name: 'evaluator', state: 'not_installed', facts: [] });
    expect(rows[2]).to.deep.equal({
      name: 'jobs',
      state: 'failed',
      facts: [
        { label: 'running', value: 0, unit: null },
        { label: 'failing', value: 'a.b', unit: null },
      ],
    });
  });
});

describe('/audit', () => {
  it('shows names with links, and escaped values before and after', async () => {
    const html = await shown(fixtureOf(fakeSystem()), '/audit', 'member');
    expect(html).to.include('<a href="/projects/%3Cshop%3E">the &lt;shop&gt;</a>');
    expect(html).to.match(/Offline grace.*<del[^>]*>72<.*<ins[^>]*>24</s);
    expect(html).to.include('Installer permissions: none');
    expect(html).to.include('data-label="Target"');
    expect(html.match(/<h1/g)).to.have.length(1);
  });

  it('applies its filters, including whole days', async () => {
    const all = fixtureOf(fakeSystem());
    const query = { actor: 'admin', action: 'project.', from: '2026-11-19', to: '2026-11-20', cursor: 'abc' };
    const html = await shown(all, '/audit', 'admin', query);
    expect(all.asked).to.deep.equal([
      {
        actor: 'admin',
        action: 'project.',
        without: 'login.',
        since: '2026-11-19T00:00:00.000Z',
        until: '2026-11-21T00:00:00.000Z',
      },
    ]);
    expect(html).to.match(/href="\/audit\?[^"]*cursor(=|&#x3D;)50%3Aabc/);
  });

  it('rejects invalid query parameters', () => {
    const { input } = page(fixtureOf(fakeSystem()), '/audit');
    expect(input?.query?.validate({ from: 'yesterday' }).error).to.be.an('error');
    expect(input?.query?.validate({ from: '', action: '' }).error).to.equal(undefined);
  });
});
