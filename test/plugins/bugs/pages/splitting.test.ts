/**
 * /bugs/{ref}/split and “Grouping”: what they say, that the forms work without a script, and
 * that text stays text.
 */
import { expect } from 'chai';
import { Redirect, type PageSpec, type View } from '../../../../kernel/contract/index.js';
import { MonthlyStatsCache } from '../../../../plugins/bugs/pages/shared/monthly-stats.js';
import { buildBugPages } from '../../../../plugins/bugs/pages/pages.js';
import { Reply, type SessionPrincipal } from '../../../../ports/http/index.js';
import { request, session } from '../../health/fakes.js';
import { renderFile } from '../../../web/templates.js';
import { errorReport, MANAGER, memoryFixture, settled, type Fixture } from '../fixture.js';
import { httpOf, READ, type AskFreely } from '../http.js';

const MEMBER = session('member') as SessionPrincipal;
const HOSTILE = '<script>alert(1)</script>';

describe('bugs: split pages', () => {
  let fixture: Fixture;
  let ref: string;
  beforeEach(async () => {
    fixture = await memoryFixture();
    ({ ref } = await fixture.bugs.record(
      errorReport({ environment: 'production', error_message: `${HOSTILE} 123456` }),
    ));
    await fixture.bugs.record(errorReport({ environment: HOSTILE, error_message: `${HOSTILE} 654321` }));
    await settled(fixture);
  });

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
    return found;
  }
  const render = (view: View, path: string): string =>
    renderFile(`plugins/bugs/views/${view.template}.hbs`, { ...view.context, path, csrf_token: 'token' });

  /** @param search as the address has it */
  async function split(search = ''): Promise<string> {
    const spec = page('/bugs/{ref}/split');
    const query: Record<string, string[]> = {};
    for (const [name, value] of new URLSearchParams(search)) (query[name] ??= []).push(value);
    const given = Object.fromEntries(
      Object.entries(query).map(([name, values]) => [name, values.length === 1 ? values[0] : values]),
    );
    const { value, error } = spec.input?.query?.validate(given) ?? {};
    if (error) throw error;
    const view = await spec.handle(request(MEMBER, { params: { ref }, query: value as object as never }));
    return render((view instanceof Reply ? view.body : view) as View, `/bugs/${ref}/split`);
  }
  const post = async (body: object): Promise<Redirect | View> =>
    (await page('/bugs/{ref}/split-off', 'POST').handle(request(MEMBER, { method: 'POST', params: { ref }, body }))) as
      Redirect | View;

  it('show how occurrences differ, with a link to a preview for each value', async () => {
    const html = await split();
    expect(html)
      .to.include('Environment')
      .and.include(`/bugs/${ref}/split?field&#x3D;environment&amp;value&#x3D;production`);
    expect(html).to.not.include(HOSTILE);
    expect(html).to.not.include('<h2 class="card-title" id="preview">');
  });

  it('preview the split, then execute it with a form that carries the selection', async () => {
    const html = await split('field=environment&value=production');
    expect(html).to.include('<h2 class="card-title" id="preview">').and.include('the environment production');
    expect(html).to.include('name="field" value="environment"').and.include('name="value" value="production"');
    expect(html).to.not.include(HOSTILE);
    const done = await post({ field: 'environment', value: 'production', title: 'In production' });
    expect(done).to.be.instanceOf(Redirect);
    expect((done as Redirect).location).to.equal('/bugs/alpha-2');
    expect((await fixture.lists.getDetail('alpha-2', MANAGER)).item).to.include({
      title: 'In production',
      hit_count: 1,
    });
  });

  it('show an error at the selection, and change nothing', async () => {
    expect(await split('field=environment&value=nowhere')).to.match(/no stored occurrence matches this part/i);
    const page = await fixture.parts.getPage(ref, MANAGER, 'occurrences', {});
    const [first] = page.items as { id: string }[];
    expect(await split(`occurrence=${first?.id}`)).to.match(/share a grouping key/i);
    expect(await split('field=message&value=(a)%5C1')).to.match(/Invalid regular expression/);
    expect(await fixture.deps.items.count()).to.equal(1);
  });

  it('show on the item why its reports belong to one group', async () => {
    const view = (await page('/bugs/{ref}').handle(request(MEMBER, { params: { ref }, query: {} }))) as View;
    const html = render(view, `/bugs/${ref}`);
    expect(html).to.include('Grouping').and.include('Same class E.').and.include('from src/cart.ts');
    expect(html).to.include('&lt;number&gt;').and.include(`/bugs/${ref}/split`).and.not.include(HOSTILE);
  });

  it('show origin, function and message of an SDK report, with links to split and grouping rules', async () => {
    const sent = errorReport({ error_message: 'cart 4711 is lost', function_name: 'lambda$total$3', title: 'E: lost' });
    const { ref: made } = await fixture.bugs.record(sent);
    const view = (await page('/bugs/{ref}').handle(request(MEMBER, { params: { ref: made }, query: {} }))) as View;
    const html = render(view, `/bugs/${made}`);
    for (const [label, value] of [
      ['Origin', sent.file_path],
      ['Function', 'lambda$total'],
      ['Message', 'cart &lt;number&gt; is lost'],
    ])
      expect(html).to.match(new RegExp(`>${label}</dt>[^]{0,120}${value?.replace('$', '\\$')}</code>`));
    expect(html).to.include(`/bugs/${made}/split`).and.include('/grouping-rules/new?');
  });

  it('have an API equivalent: how each key was made, merges and splits', async () => {
    const ask: AskFreely = await httpOf(fixture);
    const why = async (of: string) =>
      (await ask('GET', `/bugs/${of}/grouping`, undefined, { bearer: READ })).body['grouping'] as {
        keys: { came: string; origin: string | null; masked: string }[];
        says: string[];
        merged: string[];
        split_from: string | null;
        split_off: string[];
      };
    const first = await fixture.bugs.record(errorReport({ exception_class: 'Bare', file_path: null }));
    await fixture.bugs.record(errorReport({ exception_class: 'Bare' }));
    const other = await fixture.bugs.record(errorReport({ exception_class: 'Other' }));
    await fixture.merging.merge(other.id, first.id, MANAGER);
    await fixture.bugs.record(errorReport({ exception_class: 'Other' }));
    await settled(fixture);
    const whole = await why(first.ref);
    expect(whole.keys.map(({ came }) => came).toSorted()).to.deep.equal(['first', 'joined', 'merged']);
    expect(whole.keys.find(({ came }) => came === 'joined')).to.include({
      origin: 'src/cart.ts',
      masked: 'cart is empty',
    });
    expect(whole.merged).to.deep.equal([other.ref]);
    const { split_off } = await fixture.splitting.split(ref, MANAGER, {
      by: { field: 'environment', values: ['production'] },
    });
    expect(await why(split_off.ref)).to.include({ split_from: ref });
    expect((await why(ref)).split_off).to.deep.equal(['the environment production']);
    expect((await ask('GET', '/bugs/alpha-99/grouping')).status).to.equal(404);
  });
});
