import { expect } from 'chai';
import type { PageSpec, Reply, View } from '../../../kernel/contract/index.js';
import {
  describeCheck,
  findOwnerTitle,
  formatDailyCron,
  formatMigrationLabel,
  type CheckDetail,
} from '../../../plugins/health/check-details.js';
import { formatJobLabel } from '../../../plugins/health/job-labels.js';
import { buildSystemListPages } from '../../../plugins/health/system-lists.js';
import { renderFile } from '../../web/templates.js';
import { fakeSystem, fixtureOf, job, request, session } from './fakes.js';

const toText = (details: readonly CheckDetail[]): string =>
  details
    .map(({ before, at, seconds, bytes, after }) => [before, at, seconds, bytes, after].filter(Boolean).join(' '))
    .join(' · ');

const formatCheck = async (name: string, found: object): Promise<string> => {
  const report = await fixtureOf(fakeSystem()).health.getReport();
  const checks = { ...report.checks, [name]: found };
  return toText(describeCheck({ ...report, checks }, name));
};

describe('health: checks in sentences', () => {
  const cases: [string, object, string][] = [
    ['database', { ok: true, latency_ms: 1.5, processes: 1 }, 'Answers in 1.5 ms'],
    ['database', { ok: true, latency_ms: 1.5, processes: 3 }, 'Answers in 1.5 ms · 3 processes'],
    ['database', { ok: false, latency_ms: null, processes: 1, error: 'MongoServerError' }, 'No answer'],
    [
      'database',
      { ok: false, latency_ms: null, processes: 1, error: 'no response within 3 s' },
      'No response within 3 s',
    ],
    ['evaluator', { ok: true, state: 'not_installed', last_run_at: null, age_seconds: null }, ''],
    [
      'jobs',
      { ok: false, running: 2, failing: ['bugs.outbox'], ahead: [] },
      '2 running · Failing: Send pending events',
    ],
    ['webhooks', { ok: true, queued: 0, oldest_age_seconds: null, disabled: [] }, 'No deliveries waiting'],
    [
      'webhooks',
      { ok: false, queued: 1, oldest_age_seconds: 9, disabled: [{ id: 'x', name: 'Pager' }] },
      '1 delivery waiting · oldest 9 · Disabled: Pager',
    ],
    ['release_store', { ok: true, protection: 'no_packages' }, 'No packages to protect yet'],
    ['release_store', { ok: true, protection: 'not_tested' }, 'Self-test not run yet'],
    ['release_store', { ok: false, protection: 'open' }, 'Anyone can download releases'],
    ['clock', { ok: true, ahead_seconds: 0, cleaning_waits_seconds: 0 }, 'Correct'],
    ['proxies', { ok: true, unlisted: [] }, 'No unlisted proxies'],
  ];
  for (const [name, found, sentence] of cases) {
    it(`describe ${name} as "${sentence}"`, async () => expect(await formatCheck(name, found)).to.equal(sentence));
  }

  it('name jobs, migrations and schedules in words', () => {
    expect(formatJobLabel('access.sweep')).to.equal('Remove expired sessions and tokens');
    expect(formatJobLabel('chat.send_all-now')).to.equal('Send all now');
    expect(formatMigrationLabel('sourcemaps:002-store-maps-as-bytes')).to.equal('Store maps as bytes');
    expect(formatMigrationLabel('bugs:indexes-8ddb260e')).to.equal('Indexes');
    expect(formatDailyCron('10 3 * * 0')).to.equal('Sundays at 03:10 UTC');
    expect(formatDailyCron('5 14 * * *')).to.equal('Daily at 14:05 UTC');
    expect(formatDailyCron('*/5 * * * *')).to.equal(null);
    expect(findOwnerTitle('bugs.outbox', [{ id: 'bugs', title: 'Bug tracker' }])).to.equal('Bug tracker');
  });
});

describe('health: /system/jobs and /system/plugins', () => {
  const load = async (path: string, query = {}): Promise<View | Reply> => {
    const all = fixtureOf(fakeSystem(), [job('health.examine_store', { every_ms: null, cron: '10 3 * * 0' })]);
    const page = buildSystemListPages(all).find((one) => one.path === path) as PageSpec;
    return (await page.handle(request(session('member'), { path, query }))) as View | Reply;
  };
  const render = async (path: string): Promise<string> => {
    const { template, context } = (await load(path)) as View;
    return renderFile(`plugins/health/views/${template}.hbs`, { ...context, path, query: {}, csrf_token: 'token' });
  };

  it('list jobs in words, without their names', async () => {
    const html = await render('/system/jobs');
    expect(html).to.include('Check store for damage').and.include('Sundays at 03:10 UTC');
    expect(html.replaceAll(/ title="[^"]*"/g, '')).to.not.include('examine_store');
    expect(html.match(/<h1/g)).to.have.length(1);
  });

  it('list plugins by title', async () => {
    expect(await render('/system/plugins'))
      .to.include('>Health<')
      .and.include('Ready');
  });

  it('are exported as CSV', async () => {
    const jobs = (await load('/system/jobs', { format: 'csv' })) as Reply;
    expect(jobs.headers).to.include({ 'content-disposition': 'attachment; filename="jobs.csv"' });
    expect((jobs.body as string).split('\r\n')[1]).to.match(/^health\.examine_store,pending,,10 3 \* \* 0,/);
    const plugins = (await load('/system/plugins', { format: 'csv' })) as Reply;
    expect(plugins.body).to.match(/^id,title,status,version,critical,reason\r\nhealth,Health,ready,1\.0\.0,true,/);
  });
});
