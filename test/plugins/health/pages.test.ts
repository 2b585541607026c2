import { expect } from 'chai';
import { Redirect, type PageSpec, type View } from '../../../kernel/contract.js';
import { checkRows, pages } from '../../../plugins/health/pages.js';
import { renderFile } from '../../web/templates.js';
import { fakeSystem, job, request, session, fixtureOf } from './fakes.js';

type Fixture = ReturnType<typeof fixtureOf>;

function page(all: Fixture, path: string, method = 'GET'): PageSpec {
  const found = pages(all).find((spec) => spec.path === path && (spec.method ?? 'GET') === method);
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
  it('shows what is applied and pending, and lets administrators run it', async () => {
    const all = fixtureOf(fakeSystem({ migrations: () => Promise.resolve(pending) }));
    const html = await shown(all, '/migrations', 'admin');
    expect(html).to.include('bugs:002-b').and.include('Applies 2 migrations').and.include('action="/migrations"');
    expect(html.match(/<h1/g)).to.have.length(1);
  });

  it('shows members the command instead', async () => {
    const all = fixtureOf(fakeSystem({ migrations: () => Promise.resolve(pending) }));
    const html = await shown(all, '/migrations', 'member');
    expect(html).to.include('aos migrate').and.not.include('<form');
    expect(page(all, '/migrations', 'POST').access).to.deep.equal({ session: 'admin' });
  });

  it('has a badge only while something is pending', async () => {
    const badge = (all: Fixture): Promise<number | null> | undefined => page(all, '/migrations').nav?.badge?.();
    expect(await badge(fixtureOf(fakeSystem()))).to.equal(null);
    expect(await badge(fixtureOf(fakeSystem({ migrations: () => Promise.resolve(pending) })))).to.equal(2);
  });

  it('a short run is told on the next page', async () => {
    const all = fixtureOf(fakeSystem({ migrate: () => Promise.resolve({ applied: ['bugs:002-b'], pending: [] }) }));
    const answer = (await page(all, '/migrations', 'POST').handle(request(session('admin')))) as Redirect;
    expect(answer).to.be.instanceOf(Redirect).and.include({ location: '/migrations' });
    expect(answer.flash).to.deep.equal({ tone: 'success', message: '1 migration applied.' });
    expect(all.recorded).to.have.length(1);
  });

  it('a long run shows its progress and renews the page', async () => {
    let finish = (): void => {};
    const long = new Promise<{ applied: string[]; pending: string[] }>((resolve) => {
      finish = () => resolve({ applied: ['bugs:002-b'], pending: [] });
    });
    const all = fixtureOf(
      fakeSystem({ migrations: () => Promise.resolve({ ...pending, pending: ['bugs:003-c'] }), migrate: () => long }),
    );
    const outcome = await all.run.start(session('admin'), 2, 1);
    expect(outcome).to.equal(null);
    const view = (await page(all, '/migrations').handle(request(session('admin')))) as View;
    expect(view.context).to.deep.include({ refresh_seconds: 2 });
    const html = await shown(all, '/migrations', 'admin');
    expect(html).to.include('role="progressbar" max="2" value="1"').and.not.include('<form');
    finish();
    await all.run.settled();
    expect(all.run.state).to.equal(null);
  });

  it('a run that fails says so, on the page too', async () => {
    const all = fixtureOf(fakeSystem({ migrate: () => Promise.reject(new Error('bugs:002-b: duplicate <key>')) }));
    const answer = (await page(all, '/migrations', 'POST').handle(request(session('admin')))) as Redirect;
    expect(answer.flash?.tone).to.equal('danger');
    expect(await shown(all, '/migrations', 'admin'))
      .to.include('bugs:002-b: duplicate &lt;key&gt;')
      .and.include('role="alert"');
    expect(all.run.state).to.equal(null);
  });
});

describe('/system', () => {
  it('shows health, plugins with reasons, jobs, versions and the audit log, escaped', async () => {
    const system = fakeSystem({
      plugins: () => [
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
      'not installed',
      'bugs.outbox',
      'project.created',
    ]) {
      expect(html, text).to.include(text);
    }
    expect(html).to.include('&lt;b&gt;no&lt;/b&gt; server').and.include('Error: &lt;i&gt;').and.include('&lt;shop&gt;');
    expect(html).not.to.match(/<b>no|<i>|<shop>/);
    expect(html.match(/<h1/g)).to.have.length(1);
  });

  it('pages through the audit log', async () => {
    const html = await shown(fixtureOf(fakeSystem()), '/system', 'admin', { cursor: 'abc' });
    expect(html).to.include('href="/system?cursor&#x3D;25%3Aabc"').and.include('href="/system"');
  });

  it('checks become rows; empty facts are left out', async () => {
    const report = await fixtureOf(fakeSystem(), [job('a.b', { fail_reason: 'x' })]).health.report();
    const rows = checkRows(report);
    expect(rows.map((row) => row.name)).to.deep.equal([
      'database',
      'evaluator',
      'jobs',
      'webhooks',
      'release_store',
      'disk',
    ]);
    expect(rows[1]).to.deep.equal({ name: 'evaluator', state: 'not_installed', facts: [] });
    expect(rows[2]).to.deep.equal({
      name: 'jobs',
      state: 'failed',
      facts: [
        { label: 'running', value: 0 },
        { label: 'failing', value: 'a.b' },
      ],
    });
  });
});
