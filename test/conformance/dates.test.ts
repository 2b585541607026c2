/**
 * A day that no month has is refused wherever a call takes a time, and its field is named (contract
 * 00, names).
 */
import { expect } from 'chai';
import { TestService } from '../support/service.js';

/** Parameters that take a time, whatever the list. */
const TIMES = new Set(['since', 'until', 'from', 'to', 'updated_since']);
const BAD = [
  '2026-02-30',
  '2026-02-30T00:00:00Z',
  '2026-04-31T12:00:00+02:00',
  '2027-02-29T00:00:00.000Z',
  '30 Feb 2026',
];

interface Parameter {
  name: string;
  in: string;
  schema: { format?: string };
}

describe('nonexistent calendar days', function () {
  let service: TestService;
  let token: string;
  before(async () => {
    service = await TestService.createInProcess({ SVC_LIMITS__API_PER_MINUTE: '0' });
    await service.createProject('shop');
    const scopes = [
      'bugtracker:report,bugtracker:manage,watchdog:manage,watchdog:ping,webhooks:manage',
      'license:manage,updateservice:publish,projects:manage,system:read',
    ];
    token = await service.createToken(scopes.join());
    const monitor = { source: 'web-1', interval_seconds: 60 };
    expect((await service.request('POST', '/api/watchdog/v1/monitors', token, monitor)).status).to.equal(201);
  });
  after(() => service?.dispose());

  const fieldsOf = (body: Record<string, unknown>): string[] =>
    Object.keys((body['error'] as { fields?: object } | undefined)?.fields ?? {});

  it('return 400 in every query with a time', async () => {
    const { body } = await service.request('GET', '/api/openapi.json', null);
    const paths = body['paths'] as Record<string, Record<string, { parameters?: Parameter[] }>>;
    const taken = Object.entries(paths).flatMap(([path, { get }]) =>
      (get?.parameters ?? [])
        .filter(({ name, schema, in: at }) => at === 'query' && (TIMES.has(name) || schema.format === 'date-time'))
        .map(({ name }) => ({ path, name })),
    );
    expect(taken.length).to.be.greaterThan(9);
    for (const { path, name } of taken) {
      for (const bad of BAD) {
        const source = path.endsWith('/metrics') ? '&source=web-1' : '';
        const query = `?${name}=${encodeURIComponent(bad)}${source}`;
        const answer = await service.request('GET', path + query, token);
        expect([answer.status, ...fieldsOf(answer.body)], path + query).to.deep.equal([400, name]);
      }
    }
  });

  it('return 422 in every body with a time', async () => {
    const announced = { slug: 'open', title: 'Open' };
    await service.request('POST', '/api/watchdog/v1/status-pages', token, announced);
    const bodies: [path: string, field: string, body: object][] = [
      ['/api/license/v1/licenses', 'expires_at', { product: 'shop' }],
      ['/api/errors/v1/ignore-rules', 'expires_at', { match_type: 'contains', pattern: 'x', reason: 'noise' }],
      ['/api/watchdog/v1/maintenance', 'until', { sources: ['web-1'] }],
      ['/api/watchdog/v1/silences', 'until', { sources: ['web-1'] }],
      ['/api/watchdog/v1/maintenance', 'from', { sources: ['web-1'], until: '2099-01-01T00:00:00Z' }],
      [
        '/api/errors/v1/report',
        'occurred_at',
        { project: 'shop', error_level: 'error', error_message: 'm', exception_class: 'E' },
      ],
    ];
    for (const [path, field, body] of bodies) {
      for (const bad of BAD) {
        const answer = await service.request('POST', path, token, { ...body, [field]: bad });
        expect([answer.status, ...fieldsOf(answer.body)], `${path} ${field} ${bad}`).to.deep.equal([422, field]);
      }
    }
    const commits = [{ id: 'a'.repeat(40), message: 'm', timestamp: '2026-02-30T00:00:00Z' }];
    const reported = { product: 'shop', channel: 'stable', version: '1.0', commits };
    const answer = await service.request('POST', '/api/updateservice/v1/commits', token, reported);
    expect([answer.status, ...fieldsOf(answer.body)]).to.deep.equal([422, 'commits.0.timestamp']);
  });
});
