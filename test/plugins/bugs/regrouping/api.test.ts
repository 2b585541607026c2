/**
 * `/api/bugtracker/v1/projects/{project}/grouping-rules` through the HTTP adapter and the kernel,
 * and what the intake makes of rules.
 */
import { expect } from 'chai';
import type { GroupingRule } from '../../../../plugins/bugs/grouping/grouping-rule.js';
import type { RuleTrial } from '../../../../plugins/bugs/regrouping/rule-trial.js';
import type { Asked, Loose } from '../../../adapters/hapi/support.js';
import { error, Fixture } from '../../errorstream/fixture.js';
import { LIVE_TOKEN } from '../../../support/fake-access.js';

const MANAGE = 'master:bugtracker:read,bugtracker:manage';
const READ = 'master:bugtracker:read';
const FIELDS =
  'id name enabled exception_class message origin fingerprint title created_by created_at updated_at'.split(' ');
const NOBODY = '01980000-0000-7000-8000-0000000000ff';

describe('grouping rules: API', () => {
  let fixture: Fixture;
  beforeEach(async () => (fixture = await Fixture.create()));
  afterEach(() => fixture.stop());

  const ask = (
    method: string,
    path = '',
    json?: unknown,
    { bearer = MANAGE, project = 'alpha', bound }: { bearer?: string; project?: string; bound?: string } = {},
  ): Promise<Asked> =>
    fixture.server.ask(method, `/api/bugtracker/v1/projects/${project}/grouping-rules${path}`, {
      bearer,
      ...(json !== undefined && { json }),
      ...(bound !== undefined && { headers: { 'x-test-project': bound } }),
    });
  const ruleIn = ({ body }: Asked): GroupingRule => body['rule'] as unknown as GroupingRule;
  const made = async (fields: object): Promise<GroupingRule> => {
    const answer = await ask('POST', '', fields);
    expect(answer.status, JSON.stringify(answer.body)).to.equal(201);
    return ruleIn(answer);
  };
  const rules = async (): Promise<GroupingRule[]> => (await ask('GET')).body['items'] as unknown as GroupingRule[];
  const names = async (): Promise<string[]> => (await rules()).map(({ name }) => name);
  const trialOf = async (fields: object): Promise<RuleTrial> => {
    const answer = await ask('POST', '/preview', fields, { bearer: READ });
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    return answer.body as unknown as RuleTrial;
  };
  const id = ({ body }: Asked): string => body['id'] as unknown as string;
  const seen = ({ status, code }: Asked): [number, string] => [status, code];
  const fieldsOf = ({ body }: Asked): Loose => (body['error'] as unknown as { fields: Loose }).fields ?? {};
  const timeout = { message: 'timeout of (\\w+)', fingerprint: ['timeout', '{{ 1 }}'] };

  it('creates a rule: returns 201 with every field and a name derived from its conditions', async () => {
    const answer = await ask('POST', '', { ...timeout, exception_class: ' Timeout ', origin: '' });
    expect(answer.status).to.equal(201);
    const rule = ruleIn(answer);
    expect(rule).to.have.all.keys(FIELDS);
    expect(rule).to.deep.include({
      name: 'Timeout · timeout of (\\w+)',
      enabled: true,
      exception_class: 'Timeout',
      message: 'timeout of (\\w+)',
      origin: null,
      fingerprint: ['timeout', '{{ 1 }}'],
      title: null,
      created_by: 'master',
    });
    expect(ruleIn(await ask('GET', `/${rule.id}`))).to.deep.equal(rule);
    expect(await rules()).to.deep.equal([rule]);
  });

  it('groups later reports, and leaves existing groups unchanged', async () => {
    const before = await fixture.post(error({ error_message: 'timeout of db', file: 'a.ts' }));
    await made({ ...timeout, title: 'Timeout of {{ 1 }} ({{ class }})' });
    const first = await fixture.post(error({ error_message: 'timeout of db', file: 'b.ts', exception_class: 'x.A' }));
    const second = await fixture.post(error({ error_message: 'a timeout of DB again', file: 'a.ts' }));
    const other = await fixture.post(error({ error_message: 'timeout of mail', file: 'a.ts' }));
    expect(first.status).to.equal(201);
    expect(first.body).to.include({ title: 'Timeout of db (A)' });
    expect(new Set([before, first, second, other].map(id)).size).to.equal(4);
    const third = await fixture.post(error({ error_message: 'one more timeout of db', file: 'z.ts' }));
    expect(third.body).to.include({ id: id(first), created: false, hit_count: 2 });
    expect((await fixture.detail(id(before))).item).to.include({ hit_count: 1, title: 'CartError: timeout of db' });
  });

  it('takes precedence over a report’s fingerprint, which applies again when the rule is disabled', async () => {
    const own = { error_message: 'timeout of db', fingerprint: ['mine', '{{ default }}'] };
    const before = await fixture.post(error(own));
    const rule = await made(timeout);
    const ruled = await fixture.post(error(own));
    expect(ruled.body).to.include({ created: true });
    await ask('PATCH', `/${rule.id}`, { enabled: false });
    expect((await fixture.post(error(own))).body).to.include({ id: id(before), created: false });
    await ask('PATCH', `/${rule.id}`, { enabled: true });
    expect((await fixture.post(error(own))).body).to.include({ id: id(ruled), created: false });
    await ask('DELETE', `/${rule.id}`);
    expect((await fixture.post(error(own))).body).to.include({ id: id(before), created: false });
  });

  it('applies to reports of type error from every intake, also in lists, but not to bugs', async () => {
    await made(timeout);
    const reported = (type: string): Promise<Asked> =>
      fixture.server.ask('POST', '/api/bugtracker/v1/report', {
        bearer: 'master:bugtracker:report',
        json: { project: 'alpha', type, title: 'timeout of db', error_message: 'timeout of db' },
      });
    const [asError, asBug] = [await reported('error'), await reported('bug')];
    const list = await fixture.post([
      error({ error_message: 'timeout of db', exception_class: 'P' }),
      error({ error_message: 'timeout of db', exception_class: 'Q', file: 'q.ts' }),
    ]);
    const results = list.body['results'] as unknown as Loose[];
    expect(results.map((one) => one['id'])).to.deep.equal([id(asError), id(asError)]);
    expect(id(asBug)).not.to.equal(id(asError));
  });

  it('hides the rule’s title from a public key: the response has the title of the report', async () => {
    await made({ ...timeout, title: 'Our supplier ACME again' });
    const answer = await fixture.post(error({ error_message: 'timeout of db' }), {
      bearer: 'intake:bugtracker:report',
    });
    expect(answer.status).to.equal(201);
    expect(answer.body['title']).to.equal('CartError: timeout of db');
  });

  it('an ignore rule matches the title set by a grouping rule', async () => {
    await made({ ...timeout, title: 'Slow {{ 1 }}' });
    const ignore = { match_type: 'contains', pattern: 'Slow db', reason: 'known' };
    await fixture.server.ask('POST', '/api/errors/v1/ignore-rules', { bearer: MANAGE, json: ignore });
    expect((await fixture.post(error({ error_message: 'timeout of db' }))).body).to.include({ ignored: true });
    expect((await fixture.post(error({ error_message: 'timeout of mail' }))).body).to.include({ ignored: false });
  });

  it('shows the rule that created its groups', async () => {
    const rule = await made({ ...timeout, name: 'Timeouts' });
    const made1 = await fixture.post(error({ error_message: 'timeout of db' }));
    const grouping = async (): Promise<{ keys: Loose[]; says: string[] }> =>
      (await fixture.server.ask('GET', `/api/bugtracker/v1/bugs/${id(made1)}/grouping`, { bearer: READ })).body[
        'grouping'
      ] as unknown as { keys: Loose[]; says: string[] };
    const first = await grouping();
    expect(first.keys[0]).to.deep.include({ rule: { id: rule.id, name: 'Timeouts' }, fingerprint: true });
    expect(first.says.join(' ')).to.include('Grouped by the rule “Timeouts”.');
    await ask('DELETE', `/${rule.id}`);
    const gone = await grouping();
    expect(gone.keys[0]).to.deep.include({ rule: { id: rule.id, name: null } });
    expect(gone.says.join(' ')).to.include('Grouped by a deleted grouping rule.');
  });

  it('updates only the given fields, and preserves a custom name', async () => {
    const rule = await made({ ...timeout, name: 'Timeouts' });
    const changed = ruleIn(await ask('PATCH', `/${rule.id}`, { title: 'T', message: 'late (\\w+)' }));
    expect(changed).to.deep.include({
      name: 'Timeouts',
      title: 'T',
      message: 'late (\\w+)',
      fingerprint: timeout.fingerprint,
    });
    expect(ruleIn(await ask('PATCH', `/${rule.id}`, { fingerprint: null, name: null }))).to.deep.include({
      fingerprint: null,
      name: 'late (\\w+)',
    });
    const rejected = await ask('PATCH', `/${rule.id}`, { title: null });
    expect(seen(rejected)).to.deep.equal([422, 'validation_failed']);
    expect(fieldsOf(rejected)).to.have.property('fingerprint');
    expect((await rules())[0]).to.include({ title: 'T' });
  });

  it('applies the first matching rule, and replaces the order as a whole', async () => {
    const a = await made({ name: 'a', message: 'timeout', fingerprint: ['a'] });
    const b = await made({ name: 'b', message: 'timeout of db', fingerprint: ['b'] });
    const underA = await fixture.post(error({ error_message: 'timeout of db' }));
    const answer = await ask('PUT', '/order', { ids: [b.id, a.id] });
    expect(answer.status).to.equal(200);
    expect(await names()).to.deep.equal(['b', 'a']);
    const underB = await fixture.post(error({ error_message: 'timeout of db' }));
    expect(id(underB)).not.to.equal(id(underA));
    for (const ids of [[a.id], [a.id, a.id], [a.id, NOBODY], [a.id, b.id, NOBODY], []]) {
      const rejected = await ask('PUT', '/order', { ids });
      expect(seen(rejected)).to.deep.equal([422, 'validation_failed']);
      expect(fieldsOf(rejected)).to.have.property('ids');
    }
    expect(await names()).to.deep.equal(['b', 'a']);
  });

  const rejected: [what: string, fields: object, field: string][] = [
    ['nothing to match', { fingerprint: ['a'] }, 'message'],
    ['nothing to do', { message: 'a' }, 'fingerprint'],
    ['an empty fingerprint alone', { message: 'a', fingerprint: [] }, 'fingerprint'],
    ['an invalid pattern', { message: '(a', title: 't' }, 'message'],
    ['look-ahead', { message: 'a(?=b)', title: 't' }, 'message'],
    ['a pattern too large', { message: '(a{30}){40}', title: 't' }, 'message'],
    ['a long pattern', { message: 'a'.repeat(501), title: 't' }, 'message'],
    ['an unknown placeholder', { message: 'a', title: '{{ host }}' }, 'title'],
    ['a group that is not there', { message: 'a', fingerprint: ['{{ 1 }}'] }, 'fingerprint'],
    ['eleven elements', { message: 'a', fingerprint: Array.from({ length: 11 }, () => 'a') }, 'fingerprint'],
    ['an empty element', { message: 'a', fingerprint: [''] }, 'fingerprint.0'],
    ['a text in place of the list', { message: 'a', fingerprint: 'a' }, 'fingerprint'],
    ['a long title', { message: 'a', title: 'a'.repeat(201) }, 'title'],
    ['NUL', { message: 'a\0', title: 't' }, 'message'],
    ['half a character', { message: 'a\ud800', title: 't' }, 'message'],
    ['a live token', { message: 'a', title: LIVE_TOKEN }, 'title'],
    ['a number', { message: 7, title: 't' }, 'message'],
  ];
  for (const [what, fields, field] of rejected)
    it(`rejects ${what}`, async () => {
      for (const path of ['', '/preview']) {
        if (path !== '' && what === 'a live token') continue;
        const answer = await ask('POST', path, fields);
        expect(seen(answer), path).to.deep.equal([422, 'validation_failed']);
        expect(fieldsOf(answer), path).to.have.property(field);
      }
      expect(await rules()).to.deep.equal([]);
    });

  it('returns 404 for missing rules, 403 without permission, 401 without a token', async () => {
    const rule = await made(timeout);
    for (const [method, body] of [
      ['GET', undefined],
      ['PATCH', { title: 't' }],
      ['DELETE', undefined],
    ] as const)
      expect(seen(await ask(method, `/${NOBODY}`, body)), method).to.deep.equal([404, 'not_found']);
    expect(seen(await ask('POST', '/preview', { ...timeout, id: NOBODY }))).to.deep.equal([404, 'not_found']);
    expect(seen(await ask('GET', `/${rule.id}`, undefined, { project: 'beta' }))).to.deep.equal([404, 'not_found']);
    for (const [method, path, body] of [
      ['POST', '', timeout],
      ['PATCH', `/${rule.id}`, { title: 't' }],
      ['DELETE', `/${rule.id}`, undefined],
      ['PUT', '/order', { ids: [] }],
    ] as const)
      expect(seen(await ask(method, path, body, { bearer: READ })), method).to.deep.equal([403, 'insufficient_scope']);
    expect(seen(await ask('GET', '', undefined, { bearer: 'nobody' }))).to.deep.equal([401, 'unauthorized']);
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['POST', '', timeout],
      ['POST', '/preview', timeout],
      ['PUT', '/order', { ids: [rule.id] }],
      ['DELETE', `/${rule.id}`, undefined],
    ] as const)
      expect(seen(await ask(method, path, body, { bound: 'beta' })), method).to.deep.equal([403, 'insufficient_scope']);
    expect((await ask('GET', '', undefined, { bound: 'alpha' })).status).to.equal(200);
  });

  it('allows at most 50 rules per project', async () => {
    for (let i = 0; i < 50; i++) await made({ message: `m${i}`, title: 't' });
    expect(seen(await ask('POST', '', timeout))).to.deep.equal([409, 'conflict']);
    expect(await rules()).to.have.length(50);
  });

  it('loses no update from parallel writers', async () => {
    const all = await Promise.all(Array.from({ length: 12 }, (_, i) => made({ message: `m${i}`, title: 't' })));
    await Promise.all([
      ...all.slice(0, 4).map((rule) => ask('DELETE', `/${rule.id}`)),
      ...all.slice(4, 8).map((rule) => ask('PATCH', `/${rule.id}`, { enabled: false })),
    ]);
    const left = await rules();
    expect(left.map((rule) => rule.id)).to.have.members(all.slice(4).map((rule) => rule.id));
    expect(left.filter(({ enabled }) => !enabled)).to.have.length(4);
  });

  describe('previewed on stored occurrences', () => {
    beforeEach(async () => {
      for (const file of ['a.ts', 'b.ts']) await fixture.post(error({ error_message: 'timeout of db', file }));
      for (const n of [1, 2]) await fixture.post(error({ error_message: `slow answer ${n}000 of x`, file: 'c.ts' }));
    });

    it('lists the groups that would be joined', async () => {
      const trial = await trialOf({ ...timeout, title: 'Timeout of {{ 1 }}' });
      expect(trial).to.include({ groups: 3, occurrences: 4, fits: 2, joined: 1, split: 0, complete: true });
      expect(trial.destinations).to.have.length(1);
      expect(trial.destinations[0]).to.deep.include({
        group: null,
        title: 'Timeout of db',
        fingerprint: ['timeout', 'db'],
        occurrences: 2,
      });
      expect(trial.destinations[0]?.from.map(({ occurrences }) => occurrences)).to.deep.equal([1, 1]);
      expect(trial.samples[0]).to.deep.include({
        error_message: 'timeout of db',
        exception_class: 'shop.CartError',
        fingerprint: ['timeout', 'db'],
        new_title: 'Timeout of db',
      });
      expect(trial.says).to.deep.equal([
        'The rule matches 2 of 4 stored occurrences in 3 groups.',
        'Later reports like these would be counted in 1 new group.',
        '1 of these joins groups that are currently separate.',
      ]);
      expect(await rules()).to.deep.equal([]);
    });

    it('lists the groups that would be split', async () => {
      const trial = await trialOf({ message: 'slow answer (\\d)', fingerprint: ['slow', '{{ 1 }}'] });
      expect(trial).to.include({ fits: 2, joined: 0, split: 1 });
      expect(trial.destinations.map(({ fingerprint }) => fingerprint)).to.have.deep.members([
        ['slow', '1'],
        ['slow', '2'],
      ]);
    });

    it('skips groups of an earlier rule, and shows the target of a change', async () => {
      const rule = await made(timeout);
      const there = await fixture.post(error({ error_message: 'timeout of db', file: 'd.ts' }));
      expect(await trialOf({ message: 'timeout', fingerprint: ['all'] })).to.include({ fits: 0 });
      const same = await trialOf({ id: rule.id });
      expect(same).to.include({ fits: 3, joined: 0, split: 0 });
      expect(same.destinations).to.deep.equal([]);
      const narrowed = await trialOf({ id: rule.id, message: 'timeout of (mail)' });
      expect(narrowed.fits).to.equal(0);
      expect(narrowed.destinations.flatMap(({ from }) => from.map(({ ref }) => ref))).to.include(there.body['ref']);
    });

    it('moves nothing for a rule that sets only a title', async () => {
      const trial = await trialOf({ message: 'timeout', title: 'T {{ origin }}' });
      expect(trial).to.include({ fits: 2, joined: 0, split: 0 });
      expect(trial.destinations).to.deep.equal([]);
      expect(trial.samples.map(({ new_title }) => new_title)).to.have.members(['T a.ts', 'T b.ts']);
    });
  });
});
