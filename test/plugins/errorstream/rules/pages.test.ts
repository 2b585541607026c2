/**
 * /ignore-rules: list, form with preview, detail with progress (contract 80), through the services
 * and the real views.
 */
import { expect } from 'chai';
import { MemoryStore } from '../../../../adapters/memory/store.js';
import type { PageResult, PageSpec, View } from '../../../../kernel/contract/index.js';
import { Redirect } from '../../../../kernel/contract/index.js';
import { buildIgnoreRulePages } from '../../../../plugins/errorstream/rules/pages.js';
import type { ApplyRunDoc } from '../../../../plugins/errorstream/rules/documents.js';
import { ensureCollections, errorReport, settled, shown } from '../../bugs/fixture.js';
import { renderFile } from '../../../web/templates.js';
import { request } from '../../health/fakes.js';
import { MEMBER, migrated, rulesOn, type RuleFixture } from './fixture.js';

const HOSTILE = '<script>alert(1)</script>';

describe('ignore rules: pages', () => {
  let fixture: RuleFixture;
  let pages: PageSpec[];
  beforeEach(async () => {
    fixture = await rulesOn(await ensureCollections(new MemoryStore()));
    pages = buildIgnoreRulePages(fixture.registry, fixture.clock, fixture.bugs.tracked.createForPlugin('errorstream'));
    await migrated(fixture);
  });
  afterEach(() => settled(fixture.bugs));

  async function visit(
    method: 'GET' | 'POST',
    path: string,
    given: { id?: string; query?: object; body?: object } = {},
  ): Promise<PageResult> {
    const spec = pages.find((page) => (page.method ?? 'GET') === method && page.path === path);
    if (spec === undefined) throw new Error(`no page ${method} ${path}`);
    expect(spec.access).to.deep.equal({ session: 'member' });
    const checked = spec.input?.query?.validate(given.query ?? {});
    if (checked?.error) throw checked.error;
    const params: Record<string, string> = given.id === undefined ? {} : { id: given.id };
    return spec.handle(
      request(MEMBER, { params, query: (checked?.value ?? {}) as Record<string, unknown>, body: given.body ?? null }),
    );
  }
  const html = (result: PageResult, path = '/ignore-rules'): string => {
    const view = result as View;
    expect(view).to.have.property('template');
    const text = renderFile(`plugins/errorstream/views/${view.template}.hbs`, {
      ...view.context,
      path,
      query: {},
    });
    expect(text.match(/<h1/g)).to.have.length(1);
    expect(text).to.not.include(HOSTILE);
    return text;
  };
  const typed = (fields: object = {}): object => ({
    action: 'save',
    match_type: 'contains',
    pattern: 'cart is empty',
    reason: 'known noise',
    enabled: 'true',
    expires: '',
    ...fields,
  });

  it('lists rules with their counters, including the template', async () => {
    const rule = await fixture.rule({
      name: HOSTILE,
      reason: `a <b>known</b> race, ${'x'.repeat(300)}`,
      alarm_threshold: 1500,
      environment: 'ci',
      project: 'alpha',
    });
    for (let i = 0; i < 3; i++) await fixture.bugs.bugs.record(errorReport({ environment: 'ci' }));
    const text = html(await visit('GET', '/ignore-rules'));
    for (const part of [
      `/ignore-rules/${rule.id}`,
      'Template',
      'Disabled',
      '1,500 per hour',
      'alpha',
      '&lt;script&gt;',
    ])
      expect(text, part).to.include(part);
    expect(text).to.match(
      /data-label="Reason" title="[^"]*"><span class="text-break"><span title="[^"]*">a &lt;b&gt;known&lt;\/b&gt; race, x{1,200}…</,
    );
    expect(text).to.match(/data-label="Events" class="num">3</);
    expect(html(await visit('GET', '/ignore-rules', { query: { state: 'enabled' } }))).to.not.include('template');
    expect(html(await visit('GET', '/ignore-rules', { query: { project: 'beta' } }))).to.include('No matching rules');
  });

  it('shows immediately what a prefilled form would mute', async () => {
    await fixture.bugs.bugs.record(errorReport({ title: HOSTILE }));
    const query = { match_type: 'exception_class', pattern: 'E', project: 'alpha' };
    const text = html(await visit('GET', '/ignore-rules/new', { query }));
    expect(text).to.include('<b>1 matching issue</b>').and.include('/bugs/alpha-1').and.include('&lt;script&gt;');
    expect(text).to.match(/name="match_type" value="exception_class" checked>/);
    expect(text).to.match(/<option value="alpha" selected>/);
    expect(html(await visit('GET', '/ignore-rules/new'))).to.include('Preview shows the issues this rule mutes.');
    const broken = await visit('GET', '/ignore-rules/new', { query: { match_type: 'regex', pattern: '(' } });
    expect(html(broken)).to.include('Could not save');
    expect((broken as View).status).to.equal(422);
  });

  it('previews a rule without storing it, then saves it', async () => {
    await fixture.bugs.bugs.record(errorReport());
    const looked = await visit('POST', '/ignore-rules', { body: typed({ action: 'preview', reason: '' }) });
    expect(html(looked)).to.include('<b>1 matching issue</b>').and.include('value="cart is empty"');
    expect((await fixture.registry.getPage(MEMBER, { limit: 50 })).items).to.have.length(1);
    const saved = await visit('POST', '/ignore-rules', {
      body: typed({ alarm_threshold: '7', expires: '7', case_sensitive: 'true', project: 'alpha', name: '' }),
    });
    expect(saved).to.be.instanceOf(Redirect);
    const [, rule] = (await fixture.registry.getPage(MEMBER, { limit: 50 })).items;
    expect(rule).to.include({
      name: 'cart is empty',
      alarm_threshold: 7,
      case_sensitive: true,
      project: 'alpha',
      created_by: 'mara',
    });
    expect(Date.parse(rule?.expires_at ?? '')).to.equal(fixture.clock.now() + 7 * 86_400_000);
  });

  it('shows errors at the field and preserves the input', async () => {
    for (const [fields, part] of [
      [{ reason: ' ' }, 'Required'],
      [{ match_type: 'regex', pattern: '(a' }, 'missing'],
      [{ alarm_threshold: '0' }, 'Must be at least 1.'],
      [{ alarm_threshold: 'many' }, 'Enter a number.'],
      [{ pattern: '' }, 'Required'],
    ] as const) {
      const again = await visit('POST', '/ignore-rules', { body: typed({ name: 'kept', ...fields }) });
      expect((again as View).status, part).to.equal(422);
      expect(html(again), part).to.include(part).and.include('value="kept"').and.include('aria-invalid="true"');
    }
  });

  it('shows all errors together', async () => {
    const body = typed({ reason: '', match_type: 'regex', pattern: '(a', alarm_threshold: '0', name: 'n'.repeat(201) });
    const view = (await visit('POST', '/ignore-rules', { body })) as View;
    expect(view.status).to.equal(422);
    expect(Object.keys(view.context['errors'] as object)).to.have.members([
      'reason',
      'pattern',
      'alarm_threshold',
      'name',
    ]);
    expect(html(view).match(/class="invalid-feedback"/g)).to.have.length(4);
    expect((await fixture.registry.getPage(MEMBER, { limit: 50 })).items).to.have.length(1);
  });

  it('creates and applies in a single step, with the number of groups on the button', async () => {
    for (const name of ['one', 'two', 'three'])
      await fixture.bugs.bugs.record(
        errorReport({ error_message: `cart is empty ${name}`, title: name, file_path: name }),
      );
    const looked = html(await visit('POST', '/ignore-rules', { body: typed({ action: 'preview' }) }));
    expect(looked).to.match(/value="apply">[^]*?Mute existing and new \(3 issues\)<\/button>/);
    const saved = (await visit('POST', '/ignore-rules', { body: typed({ action: 'apply' }) })) as Redirect;
    expect(saved.flash).to.include({ tone: 'success' });
    await fixture.runs.waitForIdle();
    const id = saved.location.split('/').at(-1) ?? '';
    const page = html(await visit('GET', '/ignore-rules/{id}', { id }));
    expect(page).to.include('3 of 3 issues match: 3 muted').and.include('Disable and unmute 3 issues');
    expect(page).to.include('Delete and unmute 3 issues').and.include('>Cancel</a>');
    expect(html(await visit('GET', '/ignore-rules'))).to.match(/data-label="Muted issues"[^>]*>\s*<a[^>]*>3 issues</);
  });

  it('saves a rule that mutes nothing, and shows that it was not applied', async () => {
    const body = typed({ action: 'apply', enabled: undefined });
    const saved = (await visit('POST', '/ignore-rules', { body })) as Redirect;
    expect(saved.flash).to.deep.equal({
      tone: 'warning',
      message: 'Rule saved but not applied: it is disabled.',
    });
  });

  it('asks for confirmation before muting, with the number of groups', async () => {
    const rule = await fixture.rule();
    const page = async (query: object): Promise<string> =>
      html(await visit('GET', '/ignore-rules/{id}', { id: rule.id, query }));
    expect(await page({ apply: 'ask' }))
      .to.include('<b>0 matching issues</b>')
      .and.not.include('/apply"');
    await fixture.registry.change(MEMBER, rule.id, { enabled: false });
    await fixture.bugs.bugs.record(errorReport());
    await fixture.registry.change(MEMBER, rule.id, { enabled: true });
    expect(await page({}))
      .to.include('?apply=ask')
      .and.not.include('Mute 1 issue');
    const requested = await page({ apply: 'ask' });
    expect(requested)
      .to.include('<b>1 matching issue</b>')
      .and.include('Mute 1 issue</button>')
      .and.include('>Cancel</a>');
  });

  it('explains each match type with a matching example', async () => {
    const text = html(await visit('GET', '/ignore-rules/new'));
    for (const part of ['reset by peer', '^timed out after \\d+ s', 'shop.legacy.*'])
      expect(text, part).to.include(part);
  });

  it('edits a rule, preserves the expiry unless changed, and disables it by a checkbox', async () => {
    const rule = await fixture.rule({ expires_at: '2027-01-01T00:00:00.000Z' });
    expect(html(await visit('GET', '/ignore-rules/{id}/edit', { id: rule.id }))).to.include('value="keep" selected');
    const body = typed({ expires: 'keep', pattern: 'cart' });
    expect(await visit('POST', '/ignore-rules/{id}/edit', { id: rule.id, body })).to.be.instanceOf(Redirect);
    expect(await fixture.stored(rule.id)).to.include({
      pattern: 'cart',
      expires_at: '2027-01-01T00:00:00.000Z',
      enabled: true,
    });
    await visit('POST', '/ignore-rules/{id}/edit', { id: rule.id, body: typed({ enabled: undefined }) });
    expect(await fixture.stored(rule.id)).to.include({ expires_at: null, enabled: false });
  });

  it('shows a progress bar while a rule is applied, and the result afterwards', async () => {
    const { id: group } = await fixture.bugs.bugs.record(errorReport());
    const rule = await fixture.rule();
    expect(html(await visit('GET', '/ignore-rules/{id}', { id: rule.id }))).to.include('Mute existing issues');
    expect(await visit('POST', '/ignore-rules/{id}/apply', { id: rule.id })).to.be.instanceOf(Redirect);
    await fixture.runs.waitForIdle();
    const done = html(await visit('GET', '/ignore-rules/{id}', { id: rule.id }));
    expect(done).to.include('role="status"').and.include('1 of 1 issues match: 1 muted, 0 already muted.');
    expect(done).to.include('/bugs/alpha-1');
    expect((await shown(fixture.bugs, group)).muted).to.equal(true);

    const half: Partial<ApplyRunDoc> = {
      state: 'running',
      scanned: 400,
      total: 1000,
      muted: 12,
      beat_at: fixture.clock.iso(),
    };
    await fixture.deps.applies.change({ id: rule.id }, { set: { ...half } });
    const view = await visit('GET', '/ignore-rules/{id}', { id: rule.id });
    expect((view as View).context).to.include({ refresh_seconds: 2 });
    expect(html(view)).to.include('role="progressbar"').and.include('400 of 1,000 issues checked, 12 muted');
    const again = await visit('POST', '/ignore-rules/{id}/apply', { id: rule.id });
    expect((again as View).status).to.equal(409);
    expect(html(again)).to.include('already being applied');
  });

  it('enables, disables and deletes a rule', async () => {
    const { id } = await fixture.rule();
    await fixture.bugs.bugs.record(errorReport());
    expect(html(await visit('GET', '/ignore-rules/{id}', { id }))).to.include('Disable');
    await visit('POST', '/ignore-rules/{id}/disable', { id });
    expect((await fixture.registry.listMutedGroups(id, 1)).items).to.deep.equal([]);
    const off = html(await visit('GET', '/ignore-rules/{id}', { id }));
    expect(off).to.include('Enable the rule to mute').and.include(`/ignore-rules/${id}/enable`);
    await visit('POST', '/ignore-rules/{id}/enable', { id });
    expect(await fixture.stored(id)).to.include({ enabled: true });
    const gone = await visit('POST', '/ignore-rules/{id}/delete', { id });
    expect(gone).to.include({ location: '/ignore-rules' });
    expect(fixture.audited.map(({ action }) => action)).to.deep.equal(
      ['created', 'disabled', 'enabled', 'deleted'].map((what) => `ignore_rule.${what}`),
    );
  });
});
