/**
 * `/api/license/v1` by the whole service: no envelope on four paths, the administration in it, no
 * key in log or store.
 */
import { createPublicKey } from 'node:crypto';
import { expect } from 'chai';
import { verifyLicenseAnswer, verifyLicenseFile } from '../../../lib/formats/license-file.js';
import { hashKey, generateKey } from '../../../plugins/licensing/model/key.js';
import { waitUntil } from '../../harness.js';
import { ADMIN_ACCOUNT, SHARED_KEY, TestService, type ServiceResponse } from '../../support/service.js';
import { BrowserVisitor } from '../../support/browser-visitor.js';
import { BASE } from './fixture.js';

const FOUR = ['validate', 'deactivate', 'file', 'pubkey'] as const;

interface Shown {
  id: string;
  key: string;
  status: string;
  [name: string]: unknown;
}

describe('licensing over HTTP', function () {
  let service: TestService;
  let manage: string;
  let read: string;

  const LIMITS = { SVC_LIMITS__PUBLIC_PER_MINUTE: '0', SVC_LIMITS__API_PER_MINUTE: '0' };
  before(() => ask(TestService.createInProcess(LIMITS)));
  after(() => service?.dispose());

  /** The tests go on with this service. */
  const ask = async (started: Promise<TestService>): Promise<void> => {
    service = await started;
    await service.createProject('shop');
    await service.createProject('blog');
    manage = await service.createToken('license:manage');
    read = await service.createToken('license:read');
  };

  const call = (
    method: string,
    path: string,
    body?: unknown,
    bearer: string | null = manage,
  ): Promise<ServiceResponse> => service.request(method, `${BASE}${path}`, bearer, body);
  const create = async (more: object = {}): Promise<{ license: Shown; key: string; status: number }> => {
    const { status, body } = await call('POST', '/licenses', { product: 'shop', ...more });
    expect([200, 201], JSON.stringify(body)).to.include(status);
    return { license: body['license'] as Shown, key: body['key'] as string, status };
  };
  const codeOf = ({ status, body }: ServiceResponse): [number, unknown] => [
    status,
    (body['error'] as { code?: string })?.code,
  ];
  const raw = async (
    path: string,
    init: RequestInit,
  ): Promise<{ status: number; json: Record<string, unknown>; response: Response }> => {
    const response = await fetch(`${service.url}${BASE}/${path}`, init);
    const text = await response.text();
    return { status: response.status, json: JSON.parse(text) as Record<string, unknown>, response };
  };

  describe('responses without envelope on the four paths', () => {
    const json = { 'content-type': 'application/json' };
    const auth = { authorization: `Bearer ${SHARED_KEY}` };
    const good = JSON.stringify({ license_key: generateKey(), product: 'shop' });

    const expectBare = (answer: { json: Record<string, unknown> }, status: string): void => {
      expect(answer.json).to.not.have.property('error');
      expect(answer.json['status']).to.equal(status);
      expect(answer.json['message']).to.be.a('string');
    };

    for (const path of FOUR) {
      it(`returns 405 on ${path}, with Allow`, async () => {
        for (const method of [
          'DELETE',
          'PUT',
          'PATCH',
          ...(path === 'pubkey' ? ['POST'] : path === 'validate' ? [] : ['GET']),
        ]) {
          const answer = await raw(path, { method, ...(method === 'GET' ? {} : { body: '{}', headers: json }) });
          expect(answer.status, method).to.equal(405);
          expectBare(answer, 'method_not_allowed');
          expect(answer.response.headers.get('allow')).to.be.a('string');
        }
      });
    }
    for (const path of ['validate', 'deactivate', 'file'] as const) {
      const headers = path === 'deactivate' ? { ...json, ...auth } : json;
      it(`rejects invalid bodies of ${path}`, async () => {
        const unread = await raw(path, { method: 'POST', headers, body: '{"license_key":' });
        expect(unread.status).to.equal(400);
        expectBare(unread, 'invalid_request');
        const empty = await raw(path, { method: 'POST', headers, body: '{}' });
        expect(empty.status).to.equal(422);
        expectBare(empty, 'invalid_request');
        expect(empty.json['fields']).to.have.property('license_key');
        const list = await raw(path, { method: 'POST', headers, body: '[]' });
        expect([400, 422]).to.include(list.status);
        expectBare(list, 'invalid_request');
        const long = await raw(path, {
          method: 'POST',
          headers,
          body: JSON.stringify({ license_key: 'x', product: 'shop', machine_id: 'm'.repeat(129) }),
        });
        expect(long.status).to.equal(422);
        expect(long.json['fields']).to.have.property('machine_id');
        const type = await raw(path, {
          method: 'POST',
          headers: { ...headers, 'content-type': 'text/csv' },
          body: good,
        });
        expect(type.status).to.equal(415);
        expectBare(type, 'unsupported_media_type');
        const large = await raw(path, { method: 'POST', headers, body: `{"a":"${'x'.repeat(1_100_000)}"}` });
        expect(large.status).to.equal(413);
        expectBare(large, 'payload_too_large');
      });
    }

    it('deactivate returns 401 for every credential except the shared key', async () => {
      for (const credential of [null, 'Bearer wrong', `Bearer ${manage}`, `Bearer ${read}`, 'Basic YTpi']) {
        const headers = credential === null ? json : { ...json, authorization: credential };
        const answer = await raw('deactivate', { method: 'POST', headers, body: good });
        expect(answer.status, String(credential)).to.equal(401);
        expectBare(answer, 'unauthorized');
      }
    });

    it('returns 404 for an unknown key at deactivate and file, and 200 invalid at validate', async () => {
      for (const path of ['deactivate', 'file'] as const) {
        const answer = await raw(path, { method: 'POST', headers: { ...json, ...auth }, body: good });
        expect(answer.status).to.equal(404);
        expectBare(answer, 'invalid');
      }
      for (const license_key of [generateKey(), '', 'x', 'AAAAA-AAAAA-AAAAA-AAAAA-AAAAB', '💥'.repeat(300), '\u0000']) {
        const answer = await raw('validate', {
          method: 'POST',
          headers: json,
          body: JSON.stringify({ license_key, product: 'shop' }),
        });
        expect(answer.status).to.equal(200);
        expect(answer.json).to.include({ status: 'invalid', valid: false });
        expect(answer.response.headers.get('cache-control')).to.equal('no-store');
      }
    });

    it('validate ignores the credential', async () => {
      const answer = await raw('validate', {
        method: 'POST',
        headers: { ...json, authorization: 'Bearer nonsense' },
        body: good,
      });
      expect(answer.status).to.equal(200);
    });
  });

  it('supports the whole life cycle of a license over the API', async () => {
    const { license, key, status } = await create({
      licensee: 'Ada',
      email: 'ada@example.org',
      max_activations: 2,
      features: { pro: true },
    });
    expect(status).to.equal(201);
    expect(license).to.include({
      key,
      product: 'shop',
      project: 'shop',
      status: 'active',
      licensee: 'Ada',
      cache_ttl_hours: 72,
    });
    const shown = (await call('GET', `/licenses/${license.id}`, undefined, read)).body['license'] as Shown;
    expect(shown.key).to.equal(`*****-*****-*****-*****-${key.slice(-5)}`);
    expect(shown).to.deep.equal({ ...license, key: shown.key });

    const answer = (
      await call('POST', '/validate', { license_key: key, product: 'shop', machine_id: 'm1', nonce: 'n' }, null)
    ).body;
    const { body: pub } = await call('GET', '/pubkey', undefined, null);
    expect(pub).to.include({ algorithm: 'ed25519', kid: answer['kid'] });
    expect(pub['predecessors']).to.deep.equal([]);
    const requested = { keySha256: String(answer['key_sha256']), product: 'shop', machineId: 'm1', nonce: 'n' };
    expect(verifyLicenseAnswer(answer, String(pub['public_key']), requested)).to.deep.equal({ valid: true });

    const patched = await call('PATCH', `/licenses/${license.id}`, {
      licensee: 'Ada Ltd',
      features: { pro: false },
      status: 'revoked',
    });
    expect(patched.body['license']).to.deep.include({
      licensee: 'Ada Ltd',
      features: { pro: false },
      status: 'active',
    });
    for (const field of [{ product: 'shop' }, { project: 'shop' }, { client_ref: 'other' }]) {
      const fixed = await call('PATCH', `/licenses/${license.id}`, field);
      expect(codeOf(fixed), JSON.stringify(field)).to.deep.equal([422, 'validation_failed']);
    }
    const named = { product: 'shop', client_ref: 'named' };
    expect((await call('POST', '/licenses', { ...named, project: 'shop' })).status).to.equal(201);
    expect(codeOf(await call('POST', '/licenses', { ...named, project: 'other' }))).to.deep.equal([
      422,
      'validation_failed',
    ]);
    const big = await call('PATCH', `/licenses/${license.id}`, { features: { text: 'x'.repeat(8_200) } });
    expect(codeOf(big)).to.deep.equal([422, 'validation_failed']);

    for (const [move, to] of [
      ['deactivate', 'inactive'],
      ['reactivate', 'active'],
      ['revoke', 'revoked'],
    ] as const)
      expect((await call('POST', `/licenses/${license.id}/${move}`)).body['license'], move).to.include({ status: to });
    for (const move of ['approve', 'reject', 'deactivate', 'reactivate', 'revoke'])
      expect(codeOf(await call('POST', `/licenses/${license.id}/${move}`)), move).to.deep.equal([409, 'final_state']);
    expect(
      codeOf(await call('POST', `/licenses/${license.id}/extend`, { expires_at: '2030-01-01T00:00:00Z' })),
    ).to.deep.equal([409, 'final_state']);
    expect(codeOf(await call('PATCH', `/licenses/${license.id}`, { notes: 'x' }))).to.deep.equal([409, 'final_state']);
    expect(codeOf(await call('POST', '/licenses/none/revoke'))).to.deep.equal([404, 'not_found']);
  });

  it('a caller with only the read scope can read but sees no key', async () => {
    const { license } = await create();
    expect(codeOf(await call('POST', '/licenses', { product: 'shop' }, read))).to.deep.equal([
      403,
      'insufficient_scope',
    ]);
    expect(codeOf(await call('POST', `/licenses/${license.id}/revoke`, {}, read))).to.deep.equal([
      403,
      'insufficient_scope',
    ]);
    const bound = await service.createToken('license:manage', 'blog');
    expect(codeOf(await call('GET', `/licenses/${license.id}`, undefined, bound))).to.deep.equal([404, 'not_found']);
    expect(codeOf(await call('POST', '/licenses', { product: 'shop' }, bound))).to.deep.equal([
      403,
      'insufficient_scope',
    ]);
    expect((await call('GET', '/licenses', undefined, bound)).body['items']).to.deep.equal([]);
    expect(codeOf(await call('POST', '/licenses', { product: 'nope' }))).to.deep.equal([422, 'unknown_project']);
  });

  it('rejects a date without a time by its field name, in every call', async () => {
    const { license } = await create({ client_ref: 'date-only' });
    for (const [method, path] of [
      ['POST', '/licenses'],
      ['PATCH', `/licenses/${license.id}`],
      ['POST', `/licenses/${license.id}/extend`],
      ['POST', '/licenses/by-ref/shop/date-only/extend'],
    ] as const) {
      const answer = await call(method, path, {
        product: method === 'PATCH' ? undefined : 'shop',
        expires_at: '2027-01-01',
      });
      expect(codeOf(answer), path).to.deep.equal([422, 'validation_failed']);
      const { fields } = answer.body['error'] as { fields: unknown };
      expect(fields, path).to.deep.equal({ expires_at: 'must be an RFC 3339 timestamp' });
    }
  });

  it('returns the same license and key for a repeated client_ref, also in parallel', async () => {
    const order = { client_ref: 'order/1 &', licensee: 'Ada', expires_at: '2027-01-01T00:00:00+01:00' };
    const all = await Promise.all(Array.from({ length: 6 }, () => create(order)));
    expect(all.filter(({ status }) => status === 201)).to.have.length(1);
    expect(new Set(all.map(({ key }) => key)).size).to.equal(1);
    expect(new Set(all.map(({ license }) => license.id)).size).to.equal(1);
    expect((await create({ ...order, product: 'blog' })).key).to.not.equal(all[0]?.key);
    const path = `/licenses/by-ref/shop/${encodeURIComponent(order.client_ref)}/extend`;
    const extend = async (expires_at: string): Promise<unknown> =>
      ((await call('POST', path, { expires_at })).body['license'] as Shown)?.['expires_at'];
    expect(await extend('2027-02-01T00:00:00Z')).to.equal('2027-02-01T00:00:00.000Z');
    expect(await extend('2027-02-01T00:00:00Z')).to.equal('2027-02-01T00:00:00.000Z');
    expect(await extend('2027-01-15T00:00:00Z')).to.equal('2027-02-01T00:00:00.000Z');
    expect(
      codeOf(await call('POST', '/licenses/by-ref/shop/none/extend', { expires_at: '2027-02-01T00:00:00Z' })),
    ).to.deep.equal([404, 'not_found']);
  });

  it('creates several licenses with count, but not together with client_ref', async () => {
    const { status, body } = await call('POST', '/licenses', { product: 'blog', count: 25 });
    expect(status).to.equal(201);
    const items = body['items'] as { license: Shown; key: string }[];
    expect(new Set(items.map(({ key }) => key)).size).to.equal(25);
    for (const bad of [{ count: 1_001 }, { count: 0 }, { count: 2, client_ref: 'x' }])
      expect(codeOf(await call('POST', '/licenses', { product: 'blog', ...bad }))).to.deep.equal([
        422,
        'validation_failed',
      ]);
    const one = items[7] as { license: Shown; key: string };
    const { body: valid } = await call('POST', '/validate', { license_key: one.key, product: 'blog' }, null);
    expect(valid).to.include({ status: 'active' });
  });

  it('lists by q, status and key_sha256 with pages, and rejects unknown parameters', async () => {
    const { license, key } = await create({ licensee: 'Grace Hopper', email: 'Grace@Navy.example' });
    const { key: ended } = await create({ expires_at: '2026-01-01T00:00:00Z' });
    const ids = async (query: string): Promise<string[]> =>
      ((await call('GET', `/licenses?${query}`)).body['items'] as Shown[]).map(({ id }) => id);
    for (const q of ['hopper', 'GRACE', 'navy.ex', key.slice(-5), key.slice(-5).toLowerCase()])
      expect(await ids(`q=${encodeURIComponent(q)}`), q).to.include(license.id);
    expect(await ids('q=nobody-has-this')).to.deep.equal([]);
    const answer = (await call('POST', '/validate', { license_key: key, product: 'shop' }, null)).body;
    expect(await ids(`key_sha256=${String(answer['key_sha256'])}`)).to.deep.equal([license.id]);
    const expired = (await call('GET', '/licenses?status=expired&limit=200')).body['items'] as Shown[];
    expect(expired.map((one) => one.key.slice(-5))).to.include(ended.slice(-5));
    expect(new Set(expired.map(({ status }) => status))).to.deep.equal(new Set(['expired']));
    const page = (await call('GET', '/licenses?limit=1&include_total=true')).body;
    expect(page).to.include({ has_more: true });
    expect(page['total']).to.be.greaterThan(2);
    expect(codeOf(await call('GET', '/licenses?licensee=x'))).to.deep.equal([400, 'invalid_request']);
    expect(codeOf(await call('GET', '/licenses?status=gone'))).to.deep.equal([400, 'invalid_request']);
    const { body: extended } = await call('POST', `/licenses/${expired[0]?.id}/extend`, {
      expires_at: '2030-01-01T00:00:00Z',
    });
    expect(extended['license']).to.include({ status: 'active' });
  });

  it('exports CSV with masked keys and escaped formulas', async () => {
    await create({ licensee: '=HYPERLINK("http://evil")', notes: 'two\nlines' });
    const response = await fetch(`${service.url}${BASE}/licenses.csv`, {
      headers: { authorization: `Bearer ${read}` },
    });
    const text = await response.text();
    expect(response.headers.get('content-type')).to.include('text/csv');
    expect(text).to.include(`"'=HYPERLINK(""http://evil"")"`);
    expect(text).to.match(/\*{5}-\*{5}-\*{5}-\*{5}-/);
    expect(text).to.not.match(/[2-9A-HJ-NP-Z]{5}(-[2-9A-HJ-NP-Z]{5}){4}/);
  });

  it('approves, rejects, blocks and releases machines', async () => {
    const { license, key } = await create({ max_activations: 1, require_approval: true });
    const validate = async (machine_id: string): Promise<unknown> =>
      (await call('POST', '/validate', { license_key: key, product: 'shop', machine_id }, null)).body['status'];
    expect(await validate('m1')).to.equal('pending');
    expect(codeOf(await call('POST', `/licenses/${license.id}/deactivate`))).to.deep.equal([409, 'invalid_transition']);
    await call('POST', `/licenses/${license.id}/approve`);
    expect(await validate('m1')).to.equal('active');
    expect(await validate('m2')).to.equal('machine_pending');
    const list = (await call('GET', `/licenses/${license.id}/activations`, undefined, read)).body['items'] as Shown[];
    expect(list.map(({ machine_id, status }) => [machine_id, status])).to.deep.equal([
      ['m1', 'active'],
      ['m2', 'pending'],
    ]);
    const at = (n: number, move: string): Promise<ServiceResponse> =>
      call('POST', `/licenses/${license.id}/activations/${list[n]?.id}/${move}`);
    expect((await at(1, 'approve')).body['activation']).to.include({ status: 'active' });
    expect(codeOf(await at(1, 'approve'))).to.deep.equal([409, 'invalid_transition']);
    expect((await at(1, 'block')).body['activation']).to.include({ status: 'blocked' });
    expect(await validate('m2')).to.equal('machine_blocked');
    expect((await at(0, 'release')).body['activation']).to.include({ status: 'released' });
    const { license: other } = await create();
    for (const path of [`${license.id}/activations/none`, `${other.id}/activations/${list[1]?.id}`])
      expect(codeOf(await call('POST', `/licenses/${path}/approve`)), path).to.deep.equal([404, 'not_found']);
  });

  it('creates a .lic file that verifies offline', async () => {
    const { key } = await create({ max_activations: 3 });
    const response = await fetch(`${service.url}${BASE}/file`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ license_key: key, product: 'shop', machine_id: 'm1' }),
    });
    expect(response.headers.get('content-type')).to.include('text/plain');
    const text = await response.text();
    const { body: pub } = await call('GET', '/pubkey', undefined, null);
    const pem = String(pub['public_key']);
    expect(verifyLicenseFile(text, pem, { product: 'shop', machineId: 'm1' }).valid).to.equal(true);
    expect(createPublicKey(pem).asymmetricKeyType).to.equal('ed25519');
    expect((await call('POST', '/file', { license_key: key, product: 'shop' }, null)).status).to.equal(422);
  });

  it('expires a license within a minute, with an event', async () => {
    const { license } = await create({ expires_at: new Date(Date.now() + 1_500).toISOString() });
    const hooks = await service.createToken('webhooks:manage');
    await waitUntil('license.expired', async () => {
      const { body } = await service.request('GET', '/api/webhooks/v1/events?event=license.expired', hooks);
      return ((body['items'] as { data: { id: string } }[]) ?? []).some(({ data }) => data.id === license.id);
    });
    expect((await call('GET', `/licenses/${license.id}`)).body['license']).to.include({ status: 'expired' });
  });

  describe('a full license key in a URL', () => {
    const expectBareRefusal = (answer: Record<string, unknown>): void => {
      expect(answer).to.have.all.keys('status', 'message', 'fields').and.include({ status: 'invalid_request' });
    };
    const look = async (query: Record<string, string>, headers: Record<string, string> = {}) =>
      raw(`validate?${new URLSearchParams(query).toString()}`, { method: 'GET', headers });

    it('is rejected by GET validate with 400 in any parameter, and not echoed', async () => {
      const { key } = await create();
      const requested: Record<string, string>[] = [
        { license_key: key, product: 'shop' },
        { license_key: 'x', product: 'shop' },
        { license_key: '', product: 'shop' },
        { key, product: 'shop', key_sha256: hashKey(key) },
        { 'X-License-Key': key.toLowerCase(), product: 'shop', key_sha256: hashKey(key) },
        { key_sha256: key, product: 'shop' },
        { key_sha256: hashKey(key), product: 'shop', nonce: key.replaceAll('-', '') },
        { key_sha256: hashKey(key), product: key.toLowerCase() },
        { key_sha256: hashKey(key), product: 'shop', [key]: '' },
        { key_sha256: hashKey(key), product: 'shop', [key.toLowerCase().replaceAll('-', '')]: '1' },
      ];
      for (const query of requested) {
        const answer = await look(query);
        expect(answer.status, JSON.stringify(query)).to.equal(400);
        expectBareRefusal(answer.json);
        expect(JSON.stringify(answer.json).toUpperCase()).to.not.include(key);
      }
      expect((await look({ license_key: key, product: 'shop' })).json['fields']).to.have.property('license_key');
    });

    it('is rejected even when the body contains the key too', async () => {
      const { key } = await create();
      const body = JSON.stringify({ license_key: key, product: 'shop' });
      const json = { 'content-type': 'application/json' };
      for (const route of ['validate', 'file', 'deactivate'])
        for (const query of [`license_key=${key}`, `x=${key.toLowerCase()}`, key]) {
          const headers = { ...json, ...(route === 'deactivate' ? { authorization: `Bearer ${SHARED_KEY}` } : {}) };
          const answer = await raw(`${route}?${query}`, { method: 'POST', body, headers });
          expect(answer.status, `${route} ${query}`).to.equal(400);
          expectBareRefusal(answer.json);
          expect(JSON.stringify(answer.json).toUpperCase()).to.not.include(key);
        }
      expect((await raw('validate?utm=1', { method: 'POST', body, headers: json })).json).to.include({
        status: 'active',
      });
    });

    it('is unnecessary: a header or key_sha256 identifies the license without using a slot', async () => {
      const { key, license } = await create({ max_activations: 1 });
      const given = { product: 'shop', machine_id: 'm-1', nonce: 'n' };
      const byHeader = await look(given, { 'x-license-key': ` ${key.toLowerCase().replaceAll('-', ' ')} ` });
      const byHash = await look({ ...given, key_sha256: hashKey(key).toUpperCase() });
      for (const { status, json: answer } of [byHeader, byHash]) {
        expect(status).to.equal(200);
        expect(answer).to.deep.include({
          status: 'active',
          valid: true,
          key_sha256: hashKey(key),
          machine_id: 'm-1',
          nonce: 'n',
          activation: { status: null, used: 0, max: 1 },
        });
      }
      const { body } = await call('GET', `/licenses/${license.id}/activations`);
      expect(body['items']).to.deep.equal([]);
      const unknown = await look({ product: 'shop', key_sha256: '0'.repeat(64) });
      expect(unknown.json).to.include({ status: 'invalid', licensee: null, key_sha256: '0'.repeat(64) });
      expect((await look({ product: 'shop' }, { 'x-license-key': 'mistyped' })).json).to.include({ status: 'invalid' });
    });

    it('is replaced by its hash when entered into the search of the page', async () => {
      const { key } = await create();
      const visitor = new BrowserVisitor(service);
      await visitor.signIn(ADMIN_ACCOUNT);
      const answer = await visitor.get(`/licenses?q=${key.toLowerCase().replaceAll('-', '+')}`);
      expect(answer.status).to.equal(303);
      expect(answer.headers.get('location')).to.equal(`/licenses?key_sha256=${hashKey(key)}`);
      const text = await (await visitor.get(`/licenses?key_sha256=${hashKey(key)}`)).text();
      expect(text).to.include(key.slice(-5)).and.not.include(key);
    });

    it('returns 400 without a key and with two keys', async () => {
      const { key } = await create();
      for (const [query, headers] of [
        [{ product: 'shop' }, {}],
        [{ product: 'shop', key_sha256: hashKey(key) }, { 'x-license-key': key }],
        [{ product: 'shop', key_sha256: 'short' }, {}],
      ] as const) {
        const answer = await look(query, headers);
        expect(answer.status).to.equal(400);
        expectBareRefusal(answer.json);
        expect(answer.json['fields']).to.have.property('key_sha256');
      }
      expect((await look({}, { 'x-license-key': key })).json['fields']).to.have.property('product');
    });
  });

  describe('amendments of contract 50', () => {
    const json = { 'content-type': 'application/json' };
    const validate = async (body: object, query = ''): Promise<Record<string, unknown>> =>
      (await raw(`validate${query}`, { method: 'POST', headers: json, body: JSON.stringify(body) })).json;

    it('returns the public key as PEM', async () => {
      const response = await fetch(`${service.url}${BASE}/pubkey?format=pem`);
      expect(response.headers.get('content-type')).to.include('application/x-pem-file');
      expect(createPublicKey(await response.text()).asymmetricKeyType).to.equal('ed25519');
    });

    it('assigns no seat to a machine without a persistent id, and states that in the signed response', async () => {
      const { key } = await create({ max_activations: 1 });
      for (const machine_id of ['c-1', 'c-2', 'c-3']) {
        const answer = await validate({ license_key: key, product: 'shop', machine_id, machine_unstable: true });
        expect(answer).to.deep.include({ status: 'active', valid: true, activation: null });
        expect((answer['warnings'] as string[])[0]).to.match(/^machine_id_unstable: /);
        const pem = await (await fetch(`${service.url}${BASE}/pubkey?format=pem`)).text();
        const requested = { keySha256: hashKey(key), product: 'shop', machineId: machine_id, nonce: null };
        expect(verifyLicenseAnswer(answer, pem, requested)).to.include({ valid: true });
      }
      expect(await validate({ license_key: key, product: 'shop', machine_id: 'real' })).to.include({ valid: true });
    });

    it('a blocked machine stays blocked, for any id that it reports', async () => {
      const { key, license } = await create({ max_activations: 1 });
      await validate({ license_key: key, product: 'shop', machine_id: 'm' });
      const { body } = await call('GET', `/licenses/${license.id}/activations`);
      const [activation] = body['items'] as { id: string }[];
      await call('POST', `/licenses/${license.id}/activations/${activation?.id}/block`, {});
      const answer = await validate({ license_key: key, product: 'shop', machine_id: 'm', machine_unstable: true });
      expect(answer).to.include({ status: 'machine_blocked', valid: false });
    });

    it('leases floating seats, and frees one by its lease_id, in the envelope', async () => {
      const { key, license } = await create({ floating: true, max_activations: 1, lease_seconds: 60 });
      expect(license).to.deep.include({ floating: true, lease_seconds: 60, overdraft: 0, grace_days: 0 });
      const question = (machine_id: string) => ({ license_key: key, product: 'shop', machine_id });
      const first = await validate(question('a'));
      const { id: lease_id } = first['lease'] as { id: string };
      expect(first['seats']).to.deep.equal({ used: 1, max: 1 });
      expect(await validate(question('b'))).to.include({ status: 'no_seat_free', valid: false });
      const init = { method: 'POST', headers: json, body: JSON.stringify(question('a')) };
      const file = await raw('file', init);
      expect([file.status, file.json['status']]).to.deep.equal([409, 'floating']);
      for (let n = 0; n < 2; n++) {
        const { status, body } = await call('POST', '/validate/release', { lease_id }, null);
        expect([status, body['status'], body['released'], body['lease_id']]).to.deep.equal([
          200,
          'success',
          true,
          lease_id,
        ]);
      }
      expect(await validate(question('b'))).to.include({ status: 'active', valid: true });
      const unknown = { lease_id: '00000000-0000-4000-8000-000000000000' };
      expect(codeOf(await call('POST', '/validate/release', unknown, null))).to.deep.equal([404, 'not_found']);
      for (const body of [{}, { lease_id: 'x' }, { lease_id: 5 }]) {
        const answer = await call('POST', '/validate/release', body, null);
        expect(codeOf(answer), JSON.stringify(body)).to.deep.equal([422, 'validation_failed']);
        const { fields } = answer.body['error'] as { fields: object };
        expect(fields).to.have.key('lease_id');
      }
    });

    it('lists the leases of a license, and releases one for an administrator', async () => {
      const { key, license } = await create({ floating: true, max_activations: 1 });
      await validate({ license_key: key, product: 'shop', machine_id: 'a', machine_name: 'Ada' });
      const { body } = await call('GET', `/licenses/${license.id}/leases?include_total=true`, undefined, read);
      const [lease] = body['items'] as { id: string }[];
      expect(body['total']).to.equal(1);
      expect(lease).to.include({ machine_id: 'a', machine_name: 'Ada', license_id: license.id });
      expect(lease).to.not.have.property('lease_id');
      const path = `/licenses/${license.id}/leases/${lease?.id}/release`;
      expect(codeOf(await call('POST', path, {}, read))).to.deep.equal([403, 'insufficient_scope']);
      expect((await call('POST', path, { reason: 'idle' })).status).to.equal(200);
      expect((await call('GET', `/licenses/${license.id}/leases`)).body['items']).to.deep.equal([]);
      expect(codeOf(await call('POST', `/licenses/${license.id}/leases/x/release`, {}))).to.deep.equal([
        404,
        'not_found',
      ]);
    });

    it('takes the terms of a floating license by create, PATCH and CSV, and names wrong ones', async () => {
      const until = '2030-01-01T00:00:00.000Z';
      const terms = { floating: true, lease_seconds: 86_400, overdraft: 2, grace_days: 7 };
      const { license } = await create({ ...terms, entitlements: [{ name: 'api' }] });
      expect(license).to.deep.include({ ...terms, entitlements: [{ name: 'api', until: null }] });
      const changed = await call('PATCH', `/licenses/${license.id}`, {
        floating: false,
        entitlements: [{ name: 'x', until: '2030-01-01T01:00:00+01:00' }],
      });
      expect(changed.body['license']).to.deep.include({
        ...terms,
        floating: false,
        entitlements: [{ name: 'x', until }],
      });
      const csv = await (
        await fetch(`${service.url}${BASE}/licenses.csv?product=shop`, { headers: { authorization: `Bearer ${read}` } })
      ).text();
      expect(csv.split('\r\n')[0]).to.include('floating,lease_seconds,overdraft,grace_days,entitlements');
      expect(csv).to.include(`false,86400,2,7,"[{""name"":""x"",""until"":""${until}""}]"`);
      for (const [field, value] of [
        ['floating', 'yes'],
        ['lease_seconds', 59],
        ['lease_seconds', 86_401],
        ['lease_seconds', 90.5],
        ['overdraft', -1],
        ['grace_days', -1],
        ['entitlements', [{ until }]],
        ['entitlements', [{ name: 'a' }, { name: 'a' }]],
        ['entitlements', [{ name: 'a', until: 'soon' }]],
      ] as const)
        for (const answer of [
          await call('POST', '/licenses', { product: 'shop', [field]: value }),
          await call('PATCH', `/licenses/${license.id}`, { [field]: value }),
        ]) {
          expect(codeOf(answer), `${field} ${JSON.stringify(value)}`).to.deep.equal([422, 'validation_failed']);
          const [name] = Object.keys((answer.body['error'] as { fields: object }).fields);
          expect(name?.split('.')[0]?.replace(/\[.*/, '')).to.equal(field);
        }
    });

    it('validate ignores and lists unknown parameters; file and deactivate reject them', async () => {
      const { key } = await create();
      const body = { license_key: key, product: 'shop' };
      expect((await validate(body, '?machin_id=1'))['warnings']).to.deep.equal([
        'machin_id is not a parameter of this path and was ignored',
      ]);
      for (const path of ['file', 'deactivate']) {
        const init = { method: 'POST', headers: { ...json, authorization: `Bearer ${SHARED_KEY}` }, body: '{}' };
        const answer = await raw(`${path}?machin_id=1`, init);
        expect([answer.status, answer.json['status']], path).to.deep.equal([400, 'invalid_request']);
      }
    });

    it('returns 409 for a repeated client_ref with another number of seats (S-client_ref)', async () => {
      await create({ client_ref: 'order-9', max_activations: 2 });
      expect((await create({ client_ref: 'order-9', max_activations: 2 })).status).to.equal(200);
      expect((await create({ client_ref: 'order-9' })).status).to.equal(200);
      const other = await call('POST', '/licenses', { product: 'shop', client_ref: 'order-9', max_activations: 5 });
      expect(codeOf(other)).to.deep.equal([409, 'conflict']);
    });
  });
});
