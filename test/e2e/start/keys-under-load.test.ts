/**
 * Each key of the service, changed while requests run, as docs/keys.md tells it: real commands,
 * clients and files. Where a running service follows a command it is a process of its own; where it
 * is ended and started again it is in this one.
 */
import { expect } from 'chai';
import { createHmac, createPublicKey, verify } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Secret, TOTP } from 'otpauth';
import { createClient, type Client } from '../../../clients/sdk/index.js';
import { LANGUAGES, type Driver } from '../clients/small/languages.js';
import { waitUntil } from '../../harness.js';
import { Receiver, type Got } from '../../plugins/webhooks/receiver.js';
import { buildArchive } from '../../support/release-server.js';
import { ADMIN_ACCOUNT, runCliJson, SHARED_KEY, TestService, type ServiceResponse } from '../../support/service.js';
import { Load } from './load.js';
import { BrowserVisitor } from '../../support/browser-visitor.js';

const LICENSE = '/api/license/v1';
const UPDATES = '/api/updateservice/v1';
/** How soon running processes follow a rotation (docs/keys.md), and a busy machine. */
const FOLLOWED_MS = 60_000;
const NOWHERE = 'http://127.0.0.1:9';
const GOOD = { status: 'active', valid: true, verified: true };

interface Published {
  kid?: string;
  key_id?: string;
  public_key: string;
  predecessors: { kid?: string; key_id?: string; public_key: string }[];
}

describe('key changes under load', function () {
  let service: TestService;
  let dir: string;
  /** The last one that the service listened at: what a client is given does not end with it. */
  let address: string;
  let manage: string;

  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'aos-keys-'));
  });
  afterEach(async () => {
    await service?.dispose();
    await rm(dir, { recursive: true, force: true });
  });

  const UNLIMITED = { SVC_LIMITS__PUBLIC_PER_MINUTE: '0', SVC_LIMITS__API_PER_MINUTE: '0' };
  async function open(running: Promise<TestService>): Promise<void> {
    service = await running;
    await service.createProject('shop');
    manage = await service.createToken('license:manage,webhooks:manage,updateservice:publish');
  }
  const newLicense = async (more: object = {}): Promise<string> => {
    const { status, body } = await service.request('POST', `${LICENSE}/licenses`, manage, { product: 'shop', ...more });
    expect(status, JSON.stringify(body)).to.equal(201);
    return body['key'] as string;
  };
  const pubkey = async (base: string): Promise<Published> =>
    (await service.request('GET', `${base}/pubkey`, null)).body as unknown as Published;
  const file = async (license_key: string, machine_id: string): Promise<string> => {
    const answer = await fetch(`${service.url}${LICENSE}/file`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ license_key, product: 'shop', machine_id }),
    });
    expect(answer.status).to.equal(200);
    return answer.text();
  };
  const client = (licensePublicKey: string, cache: string, more: object = {}): Client =>
    createClient({
      server: (address = service.url || address),
      project: 'shop',
      machineId: 'web-1',
      cacheDir: join(dir, cache),
      timeoutMs: 60_000,
      licensePublicKey,
      ...more,
    });
  const drivers = async (): Promise<[language: string, driver: Driver][]> => {
    const found: [string, Driver][] = [];
    for (const [language, prepare] of Object.entries(LANGUAGES)) {
      const driver = await prepare(dir);
      if (driver !== null) found.push([language, driver]);
    }
    return found;
  };

  it('license key: every client continues with its pinned key, and old files stay valid', async () => {
    await open(TestService.createStarted(UNLIMITED));
    const key = await newLicense();
    const first = await pubkey(LICENSE);
    const old = await file(key, 'web-1');
    const load = new Load();
    load.repeat(async () => {
      // A client that starts again each time, and one that has its cache.
      for (const cache of ['kept', `fresh-${load.answered % 5}`])
        expect(await client(first.public_key, cache).validateLicense(key)).to.include({ ...GOOD, isTransient: false });
    });
    load.repeat(async () => {
      const text = await file(key, 'web-1');
      expect(await client(first.public_key, 'files').loadLicenseFile(text)).to.include({ valid: true });
    });
    load.repeat(async () => {
      const { body } = await service.request('POST', `${LICENSE}/validate`, null, {
        license_key: key,
        product: 'shop',
      });
      expect(body).to.include({ status: 'active' });
    });
    await load.more(10);
    const kids = [first.kid];
    for (const _ of [1, 2]) {
      const { kid } = await runCliJson<{ kid: string }>(service.env, ['license-key', 'rotate']);
      kids.unshift(kid);
      await waitUntil(
        'answers carry the new key',
        async () => {
          const question = { license_key: key, product: 'shop' };
          return (await service.request('POST', `${LICENSE}/validate`, null, question)).body['kid'] === kid;
        },
        FOLLOWED_MS,
      );
      await load.more(10);
    }
    expect(await load.end()).to.deep.equal([]);
    const last = await pubkey(LICENSE);
    expect([last.kid, ...last.predecessors.map(({ kid }) => kid)]).to.deep.equal(kids);

    const fresh = await file(key, 'web-1');
    const away = { server: NOWHERE };
    const reason = async (by: Client, text: string): Promise<unknown> => {
      const { valid, reason } = await by.loadLicenseFile(text);
      return reason ?? valid;
    };
    expect(await client(first.public_key, 'kept', away).validateLicense(key)).to.include({ ...GOOD, fromCache: true });
    expect(await reason(client(first.public_key, 'kept', away), old)).to.equal(true);
    expect(await reason(client(first.public_key, 'kept', away), fresh), 'by the chain in the cache').to.equal(true);
    expect(await reason(client(first.public_key, 'never-online', away), fresh)).to.equal('unknown_key');
    expect(await reason(client(last.public_key, 'new', away), old), 'backwards').to.equal('unknown_key');
    const both = { ...away, licensePublicKey: [last.public_key, first.public_key] };
    expect(await reason(client('', 'both', both), old)).to.equal(true);

    for (const [language, driver] of await drivers()) {
      const pinned = {
        server: service.url,
        project: 'shop',
        machine_id: 'web-1',
        license_public_key: first.public_key,
        cache_dir: join(dir, `cache ${language}`),
      };
      const load_file = (text: string, more: object = {}): Parameters<Driver['anew']>[0][number] => ({
        client: { ...pinned, server: NOWHERE, ...more },
        method: 'load_license_file',
        args: { text },
      });
      const results = await driver.anew([
        load_file(fresh),
        { client: pinned, method: 'validate_license', args: { key } },
        load_file(fresh),
        load_file(old),
        load_file(old, { license_public_key: last.public_key }),
      ]);
      expect(results[0], language).to.include({ valid: false, reason: 'unknown_key' });
      expect(results[1], language).to.include({ ...GOOD, is_transient: false });
      expect(results[2], `${language}, by the chain that is kept`).to.include({ valid: true });
      expect(results[3], language).to.include({ valid: true });
      expect(results[4], language).to.include({ valid: false, reason: 'unknown_key' });
    }
  });

  it('release key: each check is signed by a key that the pinned key leads to', async () => {
    await open(TestService.createStarted(UNLIMITED));
    for (const version of ['1.0', '1.1', '2.0']) {
      const published = await fetch(`${service.url}${UPDATES}/publish?product=shop&version=${version}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${manage}`, 'content-type': 'application/gzip' },
        body: new Uint8Array(buildArchive([{ path: 'app.txt', content: version }])),
      });
      expect(published.status, await published.text()).to.equal(201);
    }
    const before = await pubkey(UPDATES);
    const manifests = new Set<string>();
    const signedBy = new Set<string>();
    const load = new Load();
    load.repeat(async () => {
      const { body } = await service.request('GET', `${UPDATES}/check?product=shop&version=1.0`, null);
      const release = body['release'] as { manifest_json: string; manifest_signature: string; key_id: string };
      const { key_id, public_key, predecessors } = await pubkey(UPDATES);
      const known = [{ key_id, public_key }, ...predecessors].find((one) => one.key_id === release.key_id);
      const by = createPublicKey(known?.public_key ?? '');
      const signature = Buffer.from(release.manifest_signature, 'base64');
      expect(verify('sha256', Buffer.from(release.manifest_json), by, signature)).to.equal(true);
      manifests.add(release.manifest_json);
      signedBy.add(release.key_id);
    });
    await load.more(10);
    const { key_id } = await runCliJson<{ key_id: string }>(service.env, ['release-key', 'rotate']);
    await waitUntil('checks carry the new key', () => Promise.resolve(signedBy.has(key_id)), FOLLOWED_MS);
    await load.more(10);
    expect(await load.end()).to.deep.equal([]);
    expect([...signedBy]).to.deep.equal([before.key_id, key_id]);
    expect(manifests.size, 'the manifest stays as it is').to.equal(1);
  });

  it('shared key: the new key is valid after the restart, and nothing else changes', async () => {
    await open(TestService.createInProcess(UNLIMITED));
    const key = await newLicense();
    const { public_key } = await pubkey(LICENSE);
    const next = 'another-shared-key-0123456789-abcdefgh';
    const load = new Load();
    // What a client makes of the seconds of a restart: the answer from its cache, and never a
    // refusal.
    load.repeat(async () => {
      expect(await client(public_key, 'kept').validateLicense(key)).to.include(GOOD);
    });
    await load.more(5);
    const evaluate = (bearer: string): Promise<ServiceResponse> =>
      service.request('POST', '/api/watchdog/v1/evaluate', bearer);
    expect((await evaluate(SHARED_KEY)).status).to.equal(200);
    await service.stop();
    service.env['SVC_SHARED_KEY'] = next;
    await service.startInProcess();
    await load.more(5);
    expect(await load.end()).to.deep.equal([]);
    expect((await evaluate(SHARED_KEY)).status).to.equal(401);
    expect((await evaluate(next)).status).to.equal(200);
    expect((await service.request('GET', `${LICENSE}/licenses`, manage)).status, 'tokens go on').to.equal(200);
  });

  it('webhook key: each delivery during the change verifies with the old or the new key', async () => {
    const [earlier, next] = ['webhook-key-of-the-first-year-000', 'webhook-key-of-the-second-year-00'] as const;
    const receiver = await Receiver.open();
    try {
      await open(TestService.createInProcess({ ...UNLIMITED, SVC_WEBHOOK_KEY: earlier }));
      const hooks = '/api/webhooks/v1/webhooks';
      const made = await service.request('POST', hooks, manage, {
        name: 'shop',
        url: receiver.url,
        events: 'license.created',
        secret: null,
      });
      expect(made.status, JSON.stringify(made.body)).to.equal(201);
      const one = `${hooks}/${(made.body['webhook'] as { id: string }).id}`;
      const load = new Load();
      let licenses = 0;
      let restarting = false;
      load.repeat(async () => {
        if (restarting) return;
        await newLicense();
        licenses++;
      });
      const good = ({ headers, body }: Got, secret: string): boolean => {
        const mac = createHmac('sha256', secret).update(`${headers['x-svc-timestamp']}.${body}`).digest('hex');
        return [headers['x-svc-signature'], headers['x-svc-signature-previous']].includes(`sha256=${mac}`);
      };
      /** All that were made are delivered. @returns those of this step */
      let seen = 0;
      const delivered = async (): Promise<Got[]> => {
        await load.more(5);
        await waitUntil('deliveries of the licenses', () => Promise.resolve(receiver.got.length >= licenses - 1));
        const got = receiver.got.slice(seen);
        seen = receiver.got.length;
        return got;
      };
      expect((await delivered()).every((got) => good(got, earlier))).to.equal(true);

      expect((await service.request('PATCH', one, manage, { secret: next })).status).to.equal(200);
      const during = await delivered();
      expect(
        during.every((got) => good(got, earlier)),
        'for a receiver with the earlier key',
      ).to.equal(true);
      expect(
        (await delivered()).every((got) => good(got, next)),
        'for one with the new key',
      ).to.equal(true);

      restarting = true;
      await load.quiet();
      await service.stop();
      service.env['SVC_WEBHOOK_KEY'] = next;
      await service.startInProcess();
      restarting = false;
      expect((await service.request('PATCH', one, manage, { secret: null })).status).to.equal(200);
      const after = await delivered();
      expect(after.every((got) => good(got, next))).to.equal(true);
      const shown = (await service.request('GET', one, manage)).body['webhook'];
      expect(shown).to.include({ has_secret: false, enabled: true, failure_count: 0 });
      expect(await load.end()).to.deep.equal([]);
    } finally {
      await receiver.close();
    }
  });

  it('data key: encrypted data survives changes of other keys, and is readable only with its key file', async () => {
    const receiver = await Receiver.open();
    try {
      await open(TestService.createInProcess(UNLIMITED));
      const key = await newLicense();
      const made = await service.request('POST', '/api/webhooks/v1/webhooks', manage, {
        name: 'shop',
        url: receiver.url,
        events: 'license.created',
      });
      expect(made.status).to.equal(201);
      const visitor = new BrowserVisitor(service);
      await visitor.signIn(ADMIN_ACCOUNT);
      const codeOf = (secret: string, timestamp = Date.now()): string =>
        new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp });
      const { secret, recovery } = await visitor.enrollTotp(ADMIN_ACCOUNT.password, codeOf);
      expect(recovery).to.have.length.above(1);
      const signIn = (code: string | undefined): Promise<number> =>
        new BrowserVisitor(service).signInWithCode(ADMIN_ACCOUNT, code ?? '');
      await runCliJson(service.env, ['license-key', 'rotate']);
      await runCliJson(service.env, ['release-key', 'rotate']);
      // A code is good once, and the next one is good already.
      const next = codeOf(secret, Date.now() + 30_000);
      expect(await signIn(next), 'after the other keys were changed').to.equal(303);

      const path = join(service.dataDir, 'data-key');
      const right = await readFile(path, 'utf8');
      await service.stop();
      await writeFile(path, `${'x'.repeat(43)}\n`);
      // By the program: what it logs of another key is meant, and no matter of this process.
      await service.start();
      for (const code of [codeOf(secret), recovery[0]])
        expect(await signIn(code), 'with another data key').to.not.equal(303);
      const question = { license_key: key, product: 'shop' };
      const checked = await service.request('POST', `${LICENSE}/validate`, null, question);
      expect(checked.body).to.include({ status: 'active' });
      const got = receiver.got.length;
      await newLicense();
      await service.stop();
      expect(receiver.got.length, 'what cannot be signed waits').to.equal(got);
      await writeFile(path, right);
      await service.startInProcess();
      expect(await signIn(recovery[1]), 'with the right one again').to.equal(303);
      await waitUntil('what waited', () => Promise.resolve(receiver.got.length > got));
    } finally {
      await receiver.close();
    }
  });
});
