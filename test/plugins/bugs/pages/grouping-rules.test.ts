/**
 * /grouping-rules: list and form, that text stays text, what the buttons do, and what the audit log
 * keeps of it.
 */
import { expect } from 'chai';
import { Redirect, type PageSpec, type View } from '../../../../kernel/contract/index.js';
import type { AuditFields } from '../../../../ports/domain/audit.js';
import { MemoryStore } from '../../../../adapters/memory/store.js';
import { MonthlyStatsCache } from '../../../../plugins/bugs/pages/shared/monthly-stats.js';
import { buildBugPages } from '../../../../plugins/bugs/pages/pages.js';
import { Reply, type SessionPrincipal } from '../../../../ports/http/index.js';
import { request, session } from '../../health/fakes.js';
import { renderFile } from '../../../web/templates.js';
import { ensureCollections, errorReport, fixtureOn, settled, type Fixture } from '../fixture.js';

const MEMBER = session('member') as SessionPrincipal;
const HOSTILE = '<script>alert(1)</script>';

interface Entry {
  action: string;
  target: string;
  details: AuditFields;
  after: AuditFields | undefined;
}

describe('bugs: grouping rule pages', () => {
  let fixture: Fixture;
  let audited: Entry[];
  beforeEach(async () => {
    audited = [];
    const audit = {
      record: async (
        _who: unknown,
        action: string,
        target: string,
        details: AuditFields = {},
        change?: { after: AuditFields },
      ): Promise<void> => void audited.push({ action, target, details, after: change?.after }),
      recent: () => Promise.reject(new Error('not asked')),
      of: () => Promise.reject(new Error('not asked')),
    };
    fixture = fixtureOn(await ensureCollections(new MemoryStore()), undefined, (deps) =>
      Object.assign(deps, { audit: () => audit }),
    );
  });
  afterEach(() => settled(fixture));

  function page(path: string, method = 'GET'): PageSpec {
    const all = buildBugPages({
      services: fixture,
      deps: fixture.deps,
      numbers: new MonthlyStatsCache(fixture.stats, fixture.clock),
      actions: () => [],
      facts: () => [],
      agents: () => [],
      releases: () => [],
      baseUrl: () => 'http://aos.test',
      timezone: () => 'Europe/Berlin',
    });
    const found = all.find((spec) => spec.path === path && (spec.method ?? 'GET') === method);
    if (!found) throw new Error(`no page ${method} ${path}`);
    expect(found.access).to.deep.equal({ session: 'member' });
    return found;
  }
  function html(result: unknown): string {
    const view = (result instanceof Reply ? result.body : result) as View;
    expect(view).to.have.property('template');
    const text = renderFile(`plugins/bugs/views/${view.template}.hbs`, {
      ...view.context,
      path: '/grouping-rules',
      csrf_token: 'token',
    });
    expect(text.match(/<h1/g)).to.have.length(1);
    expect(text).not.to.include(HOSTILE);
    return text;
  }
  async function visit(path: string, given: { params?: Record<string, string>; query?: object } = {}): Promise<string> {
    const spec = page(path);
    const { value, error } = spec.input?.query?.validate(given.query ?? {}) ?? { value: {} };
    if (error) throw error;
    return html(await spec.handle(request(MEMBER, { params: given.params ?? {}, query: value as never })));
  }
  const post = async (path: string, body: object = {}, params: Record<string, string> = {}): Promise<unknown> =>
    page(path, 'POST').handle(request(MEMBER, { method: 'POST', params, body }));
  const typed = (fields: object = {}): object => ({
    project: 'alpha',
    action: 'save',
    enabled: 'true',
    message: 'timeout of (\\w+)',
    fingerprint: ' timeout \r\n\r\n{{ 1 }}',
    ...fields,
  });
  const rules = () => fixture.regrouping.list(MEMBER, 'alpha');

  it('requires a project, and explains how to add a rule when there are none', async () => {
    expect(await visit('/grouping-rules')).to.include('Choose a project');
    const empty = await visit('/grouping-rules', { query: { project: 'alpha' } });
    expect(empty).to.include('No grouping rules').and.include('/grouping-rules/new?project=alpha');
    expect(await visit('/grouping-rules/new')).to.match(/<select[^>]*name="project"/);
    const rejected = await post('/grouping-rules', typed({ project: '' }));
    expect(html(rejected)).to.include('Required');
  });

  it('saves the form, each line of the fingerprint as one part', async () => {
    const done = (await post('/grouping-rules', typed({ title: 'Timeout of {{ 1 }}' }))) as Redirect;
    expect(done).to.be.instanceOf(Redirect);
    expect(done.location).to.equal('/grouping-rules?project=alpha');
    const [rule] = await rules();
    expect(rule).to.deep.include({ fingerprint: ['timeout', '{{ 1 }}'], title: 'Timeout of {{ 1 }}', enabled: true });
    const form = await visit('/grouping-rules/{project}/{id}/edit', {
      params: { project: 'alpha', id: rule?.id ?? '' },
    });
    expect(form).to.include('timeout\n{{ 1 }}</textarea>');
  });

  it('shows every error at its field and preserves the input', async () => {
    const rejected = await post('/grouping-rules', typed({ message: `(${HOSTILE}`, title: '{{ host }}' }));
    const text = html(rejected);
    expect(text.match(/aria-invalid="true"/g)).to.have.length(2);
    expect(text).to.include('not a placeholder').and.include('&lt;script&gt;');
    expect(await rules()).to.deep.equal([]);
  });

  it('tests a rule without storing it, and escapes hostile text of reports', async () => {
    const sent = { error_message: `timeout of db ${HOSTILE}`, exception_class: HOSTILE };
    for (const file_path of ['a.ts', 'b.ts'])
      await fixture.bugs.record(errorReport({ ...sent, file_path, title: HOSTILE }));
    const text = html(await post('/grouping-rules', typed({ action: 'try', title: 'Timeout {{ class }}' })));
    expect(text).to.include('The rule matches 2 of 2 stored occurrences in 2 groups.');
    expect(text)
      .to.include('1 of these joins groups that are currently separate.')
      .and.include('alpha-1')
      .and.include('alpha-2');
    expect(await rules()).to.deep.equal([]);
  });

  it('reorders, disables, enables and deletes rules, each recorded in the audit log', async () => {
    await post('/grouping-rules', typed({ name: HOSTILE }));
    await post('/grouping-rules', typed({ name: 'second', message: '', exception_class: 'E', fingerprint: 'e' }));
    const [first] = await rules();
    const params = { project: 'alpha', id: first?.id ?? '' };
    expect(await visit('/grouping-rules', { query: { project: 'alpha' } })).to.include('&lt;script&gt;');
    for (const action of ['up', 'down']) await post(`/grouping-rules/{project}/{id}/${action}`, {}, params);
    expect((await rules()).map(({ name }) => name)).to.deep.equal(['second', HOSTILE]);
    await post('/grouping-rules/{project}/{id}/disable', {}, params);
    expect((await rules())[1]).to.include({ enabled: false });
    await post('/grouping-rules/{project}/{id}/enable', {}, params);
    await post('/grouping-rules/{project}/{id}/edit', typed({ name: 'renamed', title: 'T' }), params);
    await post('/grouping-rules/{project}/{id}/delete', {}, params);
    expect((await rules()).map(({ name }) => name)).to.deep.equal(['second']);
    expect(audited.map(({ action }) => action.replace('grouping_rule.', ''))).to.deep.equal([
      'created',
      'created',
      'reordered',
      'disabled',
      'enabled',
      'changed',
      'deleted',
    ]);
    expect(audited[3]).to.deep.include({ target: first?.id, details: { name: HOSTILE, project: 'alpha' } });
    expect(audited[5]?.after).to.deep.equal({ name: 'renamed', title: 'T' });
  });

  it('links from an item to a form prefilled with its class and origin', async () => {
    const { ref } = await fixture.bugs.record(errorReport({ file_path: 'src/Cart.ts' }));
    const item = html(await page('/bugs/{ref}').handle(request(MEMBER, { params: { ref }, query: {} })));
    const link = /href="(\/grouping-rules\/new\?[^"]*)"/
      .exec(item)?.[1]
      ?.replaceAll('&amp;', '&')
      .replaceAll('&#x3D;', '=');
    const query = Object.fromEntries(new URLSearchParams(link?.split('?')[1]));
    expect(query).to.deep.equal({ project: 'alpha', exception_class: 'E', origin: 'src/cart.ts' });
    expect(await visit('/grouping-rules/new', { query })).to.include('value="src/cart.ts"');
  });
});
