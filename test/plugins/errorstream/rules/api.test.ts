/**
 * `/api/errors/v1/ignore-rules` through the HTTP adapter and the kernel (contract 21, ignore rules;
 * contract 00).
 */
import { expect } from 'chai';
import type { RuleView } from '../../../../plugins/errorstream/rules/rule.js';
import { TEMPLATE_ID } from '../../../../plugins/errorstream/rules/documents.js';
import type { Asked, Loose } from '../../../adapters/hapi/support.js';
import { error, Fixture } from '../fixture.js';

const BASE = '/api/errors/v1/ignore-rules';
const MANAGE = 'master:bugtracker:read,bugtracker:manage';
const FIELDS = (
  'id name match_type pattern case_sensitive project environment reason alarm_threshold enabled expires_at hit_count ' +
  'last_hit_at is_template created_by created_at updated_at'
).split(' ');
const NOBODY = '01980000-0000-7000-8000-0000000000ff';

describe('ignore rules: API', () => {
  let fixture: Fixture;
  beforeEach(async () => (fixture = await Fixture.create()));
  afterEach(() => fixture.stop());

  const ask = (method: string, path: string, json?: unknown, bearer = MANAGE): Promise<Asked> =>
    fixture.server.ask(method, BASE + path, { bearer, ...(json === undefined ? {} : { json }) });
  const body = (fields: object = {}): object => ({
    match_type: 'contains',
    pattern: 'cart is empty',
    reason: 'noise',
    ...fields,
  });
  const text = ({ body: answered }: Asked, name: string): string => answered[name] as unknown as string;
  const made = async (fields: object = {}): Promise<RuleView> =>
    (await ask('POST', '', body(fields))).body['rule'] as unknown as RuleView;
  const seen = ({ status, code }: Asked): [number, string] => [status, code];

  it('creates a rule: returns 201 with every field, including defaults', async () => {
    const answer = await ask('POST', '', body());
    expect(answer.status).to.equal(201);
    const rule = answer.body['rule'] as unknown as RuleView;
    expect(rule).to.have.all.keys(FIELDS);
    expect(rule).to.include({
      name: 'cart is empty',
      case_sensitive: false,
      project: null,
      environment: null,
      alarm_threshold: null,
      enabled: true,
      expires_at: null,
      hit_count: 0,
      last_hit_at: null,
      is_template: false,
      created_by: 'token master',
    });
    expect((await ask('GET', `/${rule.id}`)).body['rule']).to.deep.equal(rule);
  });

  it('is applied by the intake: sets `ignored` and `ignore_rule_id`, alone and in a list', async () => {
    const rule = await made({ alarm_threshold: 2 });
    const first = await fixture.post(error());
    expect(first.status).to.equal(201);
    expect(first.body).to.include({ ignored: true, ignore_rule_id: rule.id, item_status: 'open', hit_count: 1 });
    const list = await fixture.post([error(), error({ error_message: 'another thing', file: 'b.ts' })]);
    const results = list.body['results'] as unknown as Loose[];
    expect(results.map(({ ignored, ignore_rule_id }) => [ignored, ignore_rule_id])).to.deep.equal([
      [true, rule.id],
      [false, null],
    ]);
    const { item } = await fixture.detail(text(first, 'id'));
    expect(item).to.include({ muted: true, muted_reason: 'noise', muted_by_rule_id: rule.id, hit_count: 2 });
    expect((await ask('GET', `/${rule.id}`)).body['rule']).to.include({ hit_count: 2 });
    await ask('PATCH', `/${rule.id}`, { enabled: false });
    expect((await fixture.detail(text(first, 'id'))).item).to.include({ muted: false });
    expect((await fixture.post(error())).body).to.include({ ignored: false, ignore_rule_id: null });
  });

  const rejected: [what: string, fields: object, status: number, code: string, field: string | null][] = [
    ['no reason', { reason: undefined }, 422, 'reason_required', 'reason'],
    ['a blank reason', { reason: '  ' }, 422, 'reason_required', 'reason'],
    ['no reason (null)', { reason: null }, 422, 'reason_required', 'reason'],
    ['a pattern that cannot be computed', { match_type: 'regex', pattern: '(a' }, 422, 'invalid_pattern', 'pattern'],
    ['a back-reference', { match_type: 'regex', pattern: '(a)\\1' }, 422, 'invalid_pattern', 'pattern'],
    ['look-ahead', { match_type: 'regex', pattern: 'a(?=b)' }, 422, 'invalid_pattern', 'pattern'],
    [
      'an expression that grows too large',
      { match_type: 'regex', pattern: '(a{100}){100}' },
      422,
      'invalid_pattern',
      'pattern',
    ],
    ['no pattern', { pattern: '' }, 422, 'validation_failed', 'pattern'],
    ['a pattern that is too long', { pattern: 'x'.repeat(501) }, 422, 'validation_failed', 'pattern'],
    ['an unknown kind', { match_type: 'glob' }, 422, 'validation_failed', 'match_type'],
    ['a threshold of 0', { alarm_threshold: 0 }, 422, 'validation_failed', 'alarm_threshold'],
    ['a threshold in parts', { alarm_threshold: 1.5 }, 422, 'validation_failed', 'alarm_threshold'],
    ['an invalid time', { expires_at: 'soon' }, 422, 'validation_failed', 'expires_at'],
    ['a time without a zone', { expires_at: '2027-01-01T00:00:00' }, 422, 'validation_failed', 'expires_at'],
    ['a year alone', { expires_at: '2027' }, 422, 'validation_failed', 'expires_at'],
    ['a day that no month has', { expires_at: '2027-02-30T00:00:00Z' }, 422, 'validation_failed', 'expires_at'],
    ['text that no store keeps', { name: 'a\0b' }, 422, 'validation_failed', 'name'],
    ['enabled that is no boolean', { enabled: 'yes' }, 422, 'validation_failed', 'enabled'],
  ];
  for (const [what, fields, status, code, field] of rejected) {
    it(`rejects ${what}: returns ${status} ${code} on create and update`, async () => {
      const given = body(fields);
      const answer = await ask('POST', '', given);
      expect(seen(answer)).to.deep.equal([status, code]);
      if (field !== null) expect((answer.body['error'] as Loose)['fields']).to.have.property(field);
      const rule = await made();
      if (what === 'no reason') return;
      expect(seen(await ask('PATCH', `/${rule.id}`, fields))).to.deep.equal([status, code]);
      expect((await ask('GET', `/${rule.id}`)).body['rule']).to.deep.equal(rule);
    });
  }

  it('accepts the longest pattern, a time in any zone, empty project and environment, unknown fields', async () => {
    const rule = await made({
      pattern: 'x'.repeat(500),
      expires_at: '2027-01-01T01:00:00+01:00',
      project: '',
      environment: '',
      hit_count: 7,
      is_template: true,
      unknown: 1,
    });
    expect(rule).to.include({
      expires_at: '2027-01-01T00:00:00.000Z',
      project: null,
      environment: null,
      hit_count: 0,
      is_template: false,
    });
  });

  it('updates only the given fields, and an empty update changes nothing', async () => {
    const rule = await made({ project: 'alpha', alarm_threshold: 5 });
    fixture.service.clock.advance(1000);
    expect((await ask('PATCH', `/${rule.id}`, {})).body['rule']).to.deep.equal(rule);
    const changed = (await ask('PATCH', `/${rule.id}`, { alarm_threshold: null, name: 'n' })).body['rule'];
    expect(changed).to.deep.equal({
      ...rule,
      alarm_threshold: null,
      name: 'n',
      updated_at: fixture.service.clock.iso(),
    });
  });

  it('deletes a rule, and then returns 404', async () => {
    const { id } = await made();
    const gone = await ask('DELETE', `/${id}`);
    expect(gone.status).to.equal(200);
    expect(gone.body).to.include({ deleted: true });
    for (const [method, path] of [
      ['GET', ''],
      ['PATCH', ''],
      ['DELETE', ''],
      ['POST', '/apply'],
    ] as const) {
      expect(seen(await ask(method, `/${id}${path}`, method === 'GET' ? undefined : {})), method).to.deep.equal([
        404,
        'not_found',
      ]);
      expect(seen(await ask(method, `/${NOBODY}${path}`, method === 'GET' ? undefined : {})), method).to.deep.equal([
        404,
        'not_found',
      ]);
    }
  });

  it('lists by creation time with pages, total and filters, including the disabled template', async () => {
    const one = await made({ project: 'alpha' });
    const two = await made({ enabled: false, match_type: 'exception_class', pattern: 'E' });
    const first = await ask('GET', '?limit=2&include_total=true');
    expect((first.body['items'] as unknown as Loose[]).map(({ id }) => id)).to.deep.equal([TEMPLATE_ID, one.id]);
    expect(first.body).to.include({ total: 3, has_more: true });
    const rest = await ask('GET', `?limit=2&cursor=${encodeURIComponent(text(first, 'next_cursor'))}`);
    expect((rest.body['items'] as unknown as Loose[]).map(({ id }) => id)).to.deep.equal([two.id]);
    expect(rest.body).to.include({ has_more: false, next_cursor: null });
    const of = async (query: string): Promise<unknown[]> =>
      ((await ask('GET', query)).body['items'] as unknown as Loose[]).map(({ id }) => id);
    expect(await of('?enabled=false')).to.deep.equal([TEMPLATE_ID, two.id]);
    expect(await of('?project=alpha')).to.deep.equal([one.id]);
    expect(await of('?match_type=exception_class')).to.deep.equal([two.id]);
    for (const query of ['?limit=0', '?limit=201', '?nothing=1', '?enabled=maybe', '?match_type=glob'])
      expect(seen(await ask('GET', query)), query).to.deep.equal([400, 'invalid_request']);
    expect(seen(await ask('GET', '?cursor=x'))).to.deep.equal([400, 'invalid_cursor']);
  });

  it('previews without a reason and stores nothing', async () => {
    await fixture.post(error());
    const answer = await ask('POST', '/preview', { match_type: 'regex', pattern: '^cart' });
    expect(answer.status).to.equal(200);
    expect(answer.body).to.include({ count: 1, complete: true });
    expect((answer.body['samples'] as unknown as Loose[])[0]).to.include({
      title: 'CartError: cart is empty',
      muted: false,
    });
    const rejected = await ask('POST', '/preview', { match_type: 'regex', pattern: '(' });
    expect(seen(rejected)).to.deep.equal([422, 'invalid_pattern']);
    expect(JSON.stringify(rejected.body)).to.include('missing closing ): `(`').and.not.include('(?i)');
    expect(((await ask('GET', '')).body['items'] as unknown as Loose[]).map(({ id }) => id)).to.deep.equal([
      TEMPLATE_ID,
    ]);
  });

  it('applies a rule without a body too, and returns 409 for a disabled rule', async () => {
    const reported = await fixture.post(error());
    const rule = await made();
    const dry = await ask('POST', `/${rule.id}/apply`, { dry_run: true });
    expect(dry.body).to.deep.include({ matched: 1, muted: 0, skipped: 0 });
    expect((await fixture.detail(text(reported, 'id'))).item).to.include({ muted: false });
    const done = await ask('POST', `/${rule.id}/apply`);
    expect(done.status).to.equal(200);
    expect(done.body).to.deep.include({ matched: 1, muted: 1, skipped: 0 });
    expect((await fixture.detail(text(reported, 'id'))).item).to.include({
      muted: true,
      muted_by_rule_id: rule.id,
    });
    await ask('PATCH', `/${rule.id}`, { enabled: false });
    expect(seen(await ask('POST', `/${rule.id}/apply`))).to.deep.equal([409, 'conflict']);
    expect((await ask('POST', `/${rule.id}/apply`, { dry_run: true })).status).to.equal(200);
  });

  it('requires the read scope to read and the manage scope to change', async () => {
    const { id } = await made();
    const reader = 'master:bugtracker:read';
    const reporter = 'master:bugtracker:report';
    expect((await ask('GET', '', undefined, reader)).status).to.equal(200);
    expect((await ask('GET', `/${id}`, undefined, 'master:bugtracker:manage')).status).to.equal(200);
    expect((await ask('POST', '/preview', body(), reader)).status).to.equal(200);
    for (const [method, path] of [
      ['POST', ''],
      ['PATCH', `/${id}`],
      ['DELETE', `/${id}`],
      ['POST', `/${id}/apply`],
    ] as const) {
      expect(seen(await ask(method, path, body(), reader)), `${method} ${path}`).to.deep.equal([
        403,
        'insufficient_scope',
      ]);
    }
    expect(seen(await ask('GET', '', undefined, reporter))).to.deep.equal([403, 'insufficient_scope']);
    expect(seen(await ask('GET', '', undefined, ''))).to.deep.equal([401, 'unauthorized']);
  });
});
