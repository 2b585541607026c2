/**
 * The small clients of clients/python and clients/csharp before the real service: the same calls,
 * the same results.
 */
import { expect } from 'chai';
import { FILE_CARRIERS, KEY_CARRIERS } from '../../support/license-carriers.js';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitUntil } from '../../harness.js';
import { projectRoot } from '../../architecture/tree.js';
import { buildArchive } from '../../support/release-server.js';
import { TestService } from '../../support/service.js';
import { FakeServer, json, page } from '../../clients/sdk/server.js';
import { isAvailable } from '../../support/requirements.js';
import { canHideMachineId, LANGUAGES, type Call, type Driver, type Result } from './small/languages.js';

const ROOT = projectRoot();
const VECTORS = JSON.parse(await readFile(join(ROOT, 'test', 'fixtures', 'vectors', 'license-files.json'), 'utf8')) as {
  name: string;
  public_key: string;
  file: string;
}[];
const NOW = '2026-12-01T00:00:00.000Z';

for (const [language, prepare] of Object.entries(LANGUAGES))
  describe(`small client for ${language}`, function () {
    let dir: string;
    let driver: Driver;
    let service: TestService;
    let fake: FakeServer;
    let client: Record<string, unknown>;
    let pem: string;
    let key: string;
    const one = async (method: string, args: object, more: object = {}): Promise<Result> => {
      const [result] = await driver.call([{ client: { ...client, ...more }, method, args: args as Result }]);
      return result ?? {};
    };

    before(async function () {
      dir = await mkdtemp(join(tmpdir(), 'aos-small-'));
      const found = await prepare(dir);
      if (found === null) this.skip();
      driver = found;
      service = await TestService.createInProcess();
      fake = await new FakeServer().start();
      await service.createProject('shop');
      const token = await service.createToken('bugtracker:report,watchdog:ping,updateservice:publish,license:manage');
      const features = { seats: 3, ratio: 0.00001, note: 'Größe\u0001 \u{1f600}', '\u{10000}': [1.5, 1e21], z: null };
      const made = await service.request('POST', '/api/license/v1/licenses', token, { product: 'shop', features });
      expect(made.status, JSON.stringify(made.body)).to.equal(201);
      key = made.body['key'] as string;
      pem = (await service.request('GET', '/api/license/v1/pubkey', null)).body['public_key'] as string;
      const published = await fetch(`${service.url}/api/updateservice/v1/publish?product=shop&version=2.0`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/gzip' },
        body: new Uint8Array(buildArchive([{ path: 'app.txt', content: 'two' }])),
      });
      expect(published.status).to.equal(201);
      client = { server: service.url, project: 'shop', token, machine_id: 'web-1', cache_dir: join(dir, 'cache') };
    });
    after(async () => {
      driver?.end();
      await service?.dispose();
      await fake?.stop();
      await rm(dir, { recursive: true, force: true });
    });

    it('checks for updates', async () => {
      const found = await one('check_for_update', { current_version: '1.0' });
      expect(found).to.include({ update_available: true, latest_version: '2.0', is_transient: false });
      expect(found['release']).to.include({ version: '2.0', platform: 'any' });
      expect(await one('check_for_update', { current_version: '2.0.0' })).to.include({
        update_available: false,
        latest_version: '2.0',
        release: null,
      });
      expect(await one('check_for_update', { current_version: '1.0' }, { project: 'blog' })).to.include({
        update_available: false,
        unauthorized: false,
        is_transient: false,
      });
    });

    it('validates licenses, and trusts only signed responses', async () => {
      const good = { status: 'active', valid: true, verified: false, is_transient: false };
      expect(await one('validate_license', { key: ` ${key.toLowerCase()} ` })).to.include(good);
      const verified = { license_public_key: pem };
      expect(await one('validate_license', { key }, verified)).to.include({ ...good, verified: true });
      for (const [carrier, carry] of Object.entries(KEY_CARRIERS))
        expect(await one('validate_license', { key: carry(key) }, verified), carrier).to.include({
          ...good,
          verified: true,
        });
      expect(await one('validate_license', { key: 'ABCDE' }, verified)).to.include({
        status: 'invalid',
        valid: false,
        verified: true,
        is_transient: false,
      });
      const nothing = { status: null, valid: false, verified: false, is_transient: true };
      const { publicKey } = generateKeyPairSync('ed25519');
      const another = publicKey.export({ type: 'spki', format: 'pem' });
      expect(await one('validate_license', { key }, { license_public_key: another })).to.include(nothing);
      fake.reply = json(200, { status: 'active', valid: true, product: 'shop' });
      expect(await one('validate_license', { key }, { ...verified, server: fake.url })).to.include(nothing);
      expect(await one('validate_license', { key }, { license_public_key: 'x' })).to.have.property('raised');
    });

    it('uses no seat for a machine without a stable id, and a seat for SVC_MACHINE_ID (S13)', async function () {
      if (!isAvailable('namespaces', canHideMachineId())) this.skip();
      const token = await service.createToken('license:manage');
      const requested = { product: 'shop', max_activations: 1 };
      const made = await service.request('POST', '/api/license/v1/licenses', token, requested);
      const args = { key: made.body['key'] as string };
      const { machine_id: _, ...without } = client;
      const start = async (cache: string, env: Record<string, string> = {}): Promise<Result> => {
        const run = driver.hidden({ container: 'docker', ...env });
        const calls = [
          {
            client: { ...without, license_public_key: pem, cache_dir: join(dir, cache) },
            method: 'validate_license',
            args,
          },
        ];
        return (await run.anew(calls))[0] ?? {};
      };
      for (const cache of ['c-1', 'c-2', 'c-3', 'c-3']) {
        const answer = await start(cache);
        expect(answer, cache).to.include({ status: 'active', valid: true, verified: true });
        expect((answer['warnings'] as string[])[0]).to.match(/^machine_id_unstable: /);
      }
      expect(await start('c-4', { SVC_MACHINE_ID: 'web-1' })).to.deep.include({ status: 'active', warnings: [] });
      expect(await start('c-5', { SVC_MACHINE_ID: 'web-2' })).to.include({ status: 'machine_limit', valid: false });
    });

    it('takes, renews and gives back floating seats', async () => {
      const token = await service.createToken('license:manage');
      const requested = { product: 'shop', floating: true, max_activations: 1, entitlements: [{ name: 'api' }] };
      const made = await service.request('POST', '/api/license/v1/licenses', token, requested);
      const args = { key: made.body['key'] as string };
      const { id } = made.body['license'] as { id: string };
      const countSeats = async (): Promise<number> =>
        ((await service.request('GET', `/api/license/v1/licenses/${id}/leases`, token)).body['items'] as object[])
          .length;
      const verified = { license_public_key: pem };
      const first = await one('validate_license', args, verified);
      expect(first).to.deep.include({ status: 'active', entitlements: [{ name: 'api', until: null }] });
      const { id: lease_id } = first['lease'] as { id: string };
      expect((await one('validate_license', args, verified))['lease']).to.include({ id: lease_id });
      expect(await one('validate_license', args, { ...verified, machine_id: 'web-2' })).to.deep.include({
        status: 'no_seat_free',
        valid: false,
        lease: null,
      });
      expect(await one('release_license', { lease_id })).to.deep.equal({ released: true });
      expect(await one('release_license', { lease_id: '00000000-0000-4000-8000-000000000000' })).to.deep.equal({
        released: false,
      });
      expect(await countSeats()).to.equal(0);
      expect(await one('hold_and_release_seat', args, verified)).to.include({ status: 'active', valid: true });
      expect(await countSeats()).to.equal(0);
      // The process ends after its calls.
      const call = { client: { ...client, ...verified }, method: 'hold_seat', args };
      const before = await driver.anew([call]);
      expect(before[0]).to.include({ status: 'active', valid: true });
      expect(before[0]?.['lease']).to.be.an('object');
      await waitUntil('the seat to be free', async () => (await countSeats()) === 0);
    });

    it('a license in its grace period is valid', async () => {
      fake.reply = json(200, { status: 'grace', valid: true, grace_until: NOW });
      const answer = await one('validate_license', { key }, { server: fake.url });
      expect(answer).to.include({ status: 'grace', valid: true, grace_until: NOW });
    });

    it('loads a .lic issued by the service', async () => {
      const answer = await fetch(`${service.url}/api/license/v1/file`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ license_key: key, product: 'shop', machine_id: 'web-1' }),
      });
      const args = { text: await answer.text() };
      const verifying = { license_public_key: pem };
      expect(await one('load_license_file', args, verifying)).to.include({ valid: true, reason: null });
      expect(await one('load_license_file', args, { ...verifying, machine_id: 'web-2' })).to.include({
        valid: false,
        reason: 'wrong_machine',
      });
      expect(await one('load_license_file', args)).to.include({ valid: false, reason: 'unknown_key' });
    });

    it('verifies published license files after mail transport, and rejects every modification (S07)', async () => {
      const calls: (Call & { reason: string | null })[] = [];
      const add = (reason: string | null, args: object): void =>
        void calls.push({ method: 'verify_license_file', args: { now: NOW, ...args }, reason });
      for (const { file: text, public_key, name } of VECTORS) {
        const other = VECTORS.find((vector) => vector.name !== name)?.public_key;
        add(null, { text, public_key });
        for (const carry of Object.values(FILE_CARRIERS)) add(null, { text: carry(text), public_key });
        add('unknown_key', { text, public_key: other });
        add('not_yet_valid', { text, public_key, now: '2026-01-01T00:00:00.000Z' });
        add('file_expired', { text, public_key, now: '2027-06-01T00:00:00.000Z' });
        add('wrong_product', { text, public_key, product: 'another' });
        add('malformed', { text: text.replace('BEGIN', 'BEGUN'), public_key });
        add('malformed', { text: '', public_key });
        const inner = JSON.parse(Buffer.from(text.replaceAll(/^-----.*$/gm, ''), 'base64').toString()) as {
          enc: string;
          sig: string;
          alg: string;
        };
        const changed = (change: object): string => {
          const lines = Buffer.from(JSON.stringify({ ...inner, ...change }))
            .toString('base64')
            .match(/.{1,64}/g);
          return ['-----BEGIN LICENSE FILE-----', ...(lines ?? []), '-----END LICENSE FILE-----', ''].join('\n');
        };
        const forged = Buffer.from(inner.sig, 'base64');
        forged[5] = (forged[5] ?? 0) ^ 1;
        add('wrong_signature', { text: changed({ sig: forged.toString('base64') }), public_key });
        add('wrong_signature', { text: changed({ enc: Buffer.from('{}').toString('base64') }), public_key });
        add('wrong_signature', { text: changed({ sig: 'AAAA' }), public_key });
        const alg = inner.alg === 'ed25519' ? 'rsa-sha256' : 'ed25519';
        add('malformed', { text: changed({ alg }), public_key });
        add('malformed', { text: changed({ more: 1 }), public_key });
      }
      const results = await driver.call(calls.map(({ method, args }) => ({ method, args })));
      expect(results.map(({ reason, valid }) => ({ reason, valid }))).to.deep.equal(
        calls.map(({ reason }) => ({ reason, valid: reason === null })),
      );
    });

    it('sends heartbeats and reports errors once', async () => {
      const beat = { source: 'till-3', interval: 60, metrics: { queue: 2.5 }, checks: { disk: { ok: true } } };
      expect(await one('heartbeat', beat)).to.include({ sent: true, state: 'up', unauthorized: false });
      expect(await one('heartbeat', beat, { token: 'svc_none' })).to.include({
        sent: false,
        unauthorized: true,
        is_transient: false,
      });
      const report = {
        error_message: 'no "stock"\n\u0001',
        client_ref: `r-${language}`,
        app_version: '1.0',
        tags: ['a'],
      };
      const first = await one('report_error', report);
      expect(first, JSON.stringify(first)).to.include({ sent: true, created: true, ref: 'shop-1' });
      expect(await one('report_error', report)).to.include({ sent: true, created: false, ref: 'shop-1' });
      expect(await one('capture_exception', { app_version: '1.0' })).to.include({ sent: true, ref: 'shop-2' });
    });

    it('reports values that JSON cannot represent as null or text, and loses no other value', async () => {
      fake.reply = json(201, { status: 'success', ref: 'shop-9' });
      const sent = await one('capture_exception', { how: 'odd' }, { server: fake.url });
      expect(sent, JSON.stringify(sent)).to.include({ sent: true, ref: 'shop-9' });
      const { context } = fake.asked.at(-1)!.body as { context: Record<string, unknown> };
      expect(context).to.include({ ratio: null, id: '12345678-1234-5678-1234-567812345678' });
      expect(context['1']).to.deep.equal(['a', null]);
      expect(JSON.stringify(context['self']).length).to.be.below(5_000);
    });

    it('limits the total time of a response that arrives byte by byte', async () => {
      const beat = { client: { ...client, server: fake.url, timeout: 1 }, method: 'heartbeat', args: { source: 'x' } };
      const drop = (response: ServerResponse, piece: string): void => {
        const timer = setInterval(() => response.socket?.write(piece), 200);
        response.socket?.on('close', () => clearInterval(timer));
      };
      for (const begin of ['HTTP/1.1 200 OK\r\nx-slow: ', 'HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n']) {
        fake.reply = (_asked, response) => {
          response.socket?.write(begin);
          drop(response, 'x');
        };
        const [result] = await driver.call([beat]);
        expect(result, begin).to.include({ sent: false, is_transient: true });
      }
    });

    it('rejects JSON from another server', async () => {
      for (const body of [{ status: ['active'] }, { status: {} }, { status: 1, error: [] }, {}]) {
        fake.reply = json(200, body);
        const away = { ...client, server: fake.url };
        const results = await driver.call([
          { client: away, method: 'check_for_update', args: { current_version: '1.0' } },
          { client: away, method: 'validate_license', args: { key } },
          { client: away, method: 'heartbeat', args: { source: 'x' } },
          { client: away, method: 'report_error', args: { error_message: 'x' } },
        ]);
        expect(
          results.map(({ is_transient }) => is_transient),
          JSON.stringify(results),
        ).to.deep.equal(Array(4).fill(true));
      }
    });

    it('distinguishes rejections by the service from all other errors', async () => {
      const envelope = (code: string): object => ({ status: 'error', error: { code, message: 'No.' } });
      for (const [reply, transient] of [
        [json(401, envelope('unauthorized')), false],
        [json(404, envelope('not_found')), false],
        [json(422, envelope('validation_failed')), false],
        [json(429, envelope('rate_limited')), true],
        [json(503, envelope('overloaded')), true],
        [page(404, '<h1>Not Found</h1>'), true],
        [page(200, '<h1>Welcome to the hotel</h1>'), true],
        [page(302, '', { location: `${fake.url}/elsewhere` }), true],
        [(_asked: unknown, response: { destroy: () => void }) => response.destroy(), true],
      ] as const) {
        fake.reply = reply;
        const away = { server: fake.url };
        const results = await driver.call([
          { client: { ...client, ...away }, method: 'check_for_update', args: { current_version: '1.0' } },
          { client: { ...client, ...away }, method: 'validate_license', args: { key } },
          { client: { ...client, ...away }, method: 'heartbeat', args: { source: 'x' } },
        ]);
        expect(results.map(({ is_transient }) => is_transient)).to.deep.equal([transient, transient, transient]);
      }
      expect(await one('report_error', { error_message: 'x' }, { server: 'http://127.0.0.1:9' })).to.include({
        sent: false,
        is_transient: true,
      });
    });
  });
