/**
 * Wherever people and agents write, a text with a live token of this service is refused, the field
 * is named, and the answer does not repeat the token (contract 20, endpoints). With the whole
 * service: its routes, its pages, its tools.
 */
import { expect } from 'chai';
import { ADMIN_ACCOUNT, TestService } from '../support/service.js';
import { BrowserVisitor } from '../support/browser-visitor.js';

const SCOPES = [
  'bugtracker:report',
  'bugtracker:manage',
  'license:manage',
  'projects:manage',
  'setup:install',
  'updateservice:publish',
  'watchdog:manage',
  'watchdog:ping',
  'webhooks:manage',
].join(',');
/** Between each two characters: not seen by a reader, or by a pattern. */
const DIVIDERS = ['', '\u200b', '\u2060', '\u00ad', '\u{e0041}'];

interface Write {
  method: 'POST' | 'PATCH';
  path: string;
  body: (text: string) => object;
  field: string;
}

const write = (method: Write['method'], path: string, field: string, body: Write['body']): Write => ({
  method,
  path,
  field,
  body,
});

const ROUTES: readonly Write[] = [
  write('POST', '/api/projects/v1/projects', 'description', (description) => ({ slug: 'new', description })),
  write('PATCH', '/api/projects/v1/projects/shop', 'name', (name) => ({ name })),
  write('POST', '/api/projects/v1/projects/shop/intake-keys', 'name', (name) => ({ name })),
  write('POST', '/api/tokens/v1/provision', 'name', (name) => ({ name })),
  write('POST', '/api/license/v1/licenses', 'notes', (notes) => ({ product: 'shop', licensee: 'A', notes })),
  write('POST', '/api/license/v1/licenses', 'licensee', (licensee) => ({ product: 'shop', licensee })),
  write('POST', '/api/license/v1/licenses', 'features', (feature) => ({ product: 'shop', features: { [feature]: 1 } })),
  write('POST', '/api/webhooks/v1/webhooks', 'name', (name) => ({
    name,
    url: 'https://hooks.example.org/',
    events: ['bug.created'],
  })),
  write('POST', '/api/updateservice/v1/withdraw', 'reason', (reason) => ({
    product: 'shop',
    version: '1.0',
    channel: 'stable',
    reason,
  })),
  write('POST', '/api/watchdog/v1/monitors', 'description', (description) => ({ source: 'web-1', description })),
  write('POST', '/api/watchdog/v1/event', 'message', (message) => ({ source: 'web-1', type: 'deploy', message })),
  write('POST', '/api/watchdog/v1/event', 'data', (text) => ({
    source: 'web-1',
    type: 'deploy',
    data: { secret: text },
  })),
  ...['name', 'pattern', 'reason', 'environment'].map((field) =>
    write('POST', '/api/errors/v1/ignore-rules', field, (text) => ({
      name: 'r',
      match_type: 'contains',
      pattern: 'x',
      reason: 'y',
      [field]: text,
    })),
  ),
  ...['name', 'exception_class', 'message', 'origin', 'title'].map((field) =>
    write('POST', '/api/bugtracker/v1/projects/shop/grouping-rules', field, (text) => ({
      exception_class: 'E',
      title: 't',
      [field]: text,
    })),
  ),
  write('POST', '/api/bugtracker/v1/projects/shop/grouping-rules', 'fingerprint', (text) => ({
    message: 'x',
    fingerprint: [text],
  })),
  write('POST', '/api/bugtracker/v1/report', 'description', (description) => ({
    project: 'shop',
    title: 'T',
    description,
  })),
  write('POST', '/api/bugtracker/v1/bugs?action=next', 'agent', (agent) => ({ agent })),
  write('POST', '/api/bugtracker/v1/bugs/bulk', 'set', (tag) => ({ ids: ['shop-1'], set: { tags: [tag] } })),
];

const PAGES: readonly { path: string; page: string; fields: (text: string) => Record<string, string> }[] = [
  { path: '/projects', page: '/projects', fields: (name) => ({ slug: 'other', name }) },
  { path: '/webhooks', page: '/webhooks', fields: (name) => ({ name, url: 'https://hooks.example.org/' }) },
  { path: '/tokens', page: '/tokens', fields: (name) => ({ name, kind: 'master', scopes: 'bugtracker:read' }) },
  { path: '/licenses', page: '/licenses', fields: (notes) => ({ product: 'shop', notes }) },
  { path: '/bugs/new', page: '/bugs', fields: (description) => ({ project: 'shop', title: 'T', description }) },
];

describe('start: texts that contain a live token', function () {
  let service: TestService;
  let token: string;
  before(async () => {
    service = await TestService.createInProcess();
    await service.createProject('shop');
    token = await service.createToken(SCOPES);
  });
  after(() => service.dispose());

  const divided = (divider: string): string => `use ${Array.from(token).join(divider)} for it`;
  const told = (answer: unknown): void => {
    const text = JSON.stringify(answer).replaceAll(/[^\x21-\x7e]/g, '');
    expect(text).to.not.include(token);
  };

  for (const { method, path, body, field } of ROUTES) {
    it(`are rejected by ${method} ${path}: ${field}`, async () => {
      for (const divider of DIVIDERS) {
        const answer = await service.request(method, path, token, body(divided(divider)));
        const error = answer.body['error'] as { code: string; fields: object } | undefined;
        expect([answer.status, error?.code], JSON.stringify(divider)).to.deep.equal([422, 'validation_failed']);
        expect(error?.fields).to.have.all.keys(field);
        told(answer.body);
      }
    });
  }

  it('are rejected in release notes, before anything is published', async () => {
    const notes = Buffer.from(divided('\u200b')).toString('base64');
    const response = await fetch(
      `${service.url}/api/updateservice/v1/publish?product=shop&version=1.0&channel=stable&build=1`,
      {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/gzip', 'x-release-notes': notes },
        body: 'any bytes',
      },
    );
    const answer = (await response.json()) as { error: { code: string; fields: object } };
    expect([response.status, answer.error.code]).to.deep.equal([422, 'validation_failed']);
    expect(answer.error.fields).to.have.all.keys('notes');
    told(answer);
  });

  it('are rejected by the tools of agents', async () => {
    const call = { name: 'report', arguments: { project: 'shop', title: 'T', description: divided('\u200b') } };
    const response = await fetch(`${service.url}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: call }),
    });
    const text = await response.text();
    expect(text).to.include('validation_failed').and.to.include('description');
    told(text);
  });

  for (const { path, page, fields } of PAGES) {
    it(`are rejected by the form of ${path}`, async () => {
      const visitor = new BrowserVisitor(service);
      expect(await visitor.signIn(ADMIN_ACCOUNT)).to.equal(303);
      for (const divider of DIVIDERS) {
        const given = fields(divided(divider));
        const answer = await visitor.post(path, given, page);
        const html = await answer.text();
        expect(answer.status, html.slice(0, 2_000)).to.equal(422);
        told(html);
      }
    });
  }

  it('leave the store unchanged, while revoked or short tokens and intake keys are accepted', async () => {
    const dead = await service.createToken('bugtracker:read');
    expect((await service.request('DELETE', '/api/tokens/v1/self', dead)).status).to.equal(403);
    const sub = await service.request('POST', '/api/tokens/v1/provision', token, { name: 'gone' });
    const gone = String(sub.body['token']);
    await service.request('DELETE', '/api/tokens/v1/self', gone);
    const made = await service.request('POST', '/api/projects/v1/projects/shop/intake-keys', token, { name: 'web' });
    expect(made.status).to.equal(201);
    const description = `${gone}, ${token.slice(0, -1)}, ${JSON.stringify(made.body).match(/svc_in_\w{43}/)?.[0]}`;
    const kept = await service.request('PATCH', '/api/projects/v1/projects/shop', token, { description });
    expect([kept.status, (kept.body['project'] as { description: string }).description]).to.deep.equal([
      200,
      description,
    ]);
    const { body } = await service.request('GET', '/api/bugtracker/v1/bugs', token);
    expect(body['items']).to.deep.equal([]);
  });

  it('are scrubbed from error reports, and never block a heartbeat', async () => {
    const report = {
      project: 'shop',
      file: 'a.ts',
      error_message: divided(''),
      exception_class: 'E',
      error_level: 'error',
    };
    const reported = await service.request('POST', '/api/errors/v1/report', token, report);
    expect(reported.status).to.equal(201);
    const { body } = await service.request('GET', `/api/bugtracker/v1/bugs/${String(reported.body['id'])}`, token);
    told(body);
    const beat = await service.request('POST', '/api/watchdog/v1/ping', token, { source: 'w', message: divided('') });
    expect(beat.status).to.equal(201);
  });
});
