/**
 * Grace, the clock guard, verification at every read, and both schemas of the cache (contract 90,
 * SDK).
 */
import { expect } from 'chai';
import { createHash, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AnswerCache } from '../../../clients/sdk/cache.js';
import { createClient, type Client } from '../../../clients/sdk/index.js';
import type { TextStore } from '../../../clients/sdk/store.js';
import { getStoredId } from '../../../clients/sdk/node/machine.js';
import {
  formatLicenseFile,
  LICENSE_FILE_SIGNED_PREFIX,
  getSignedAnswerBytes,
} from '../../../lib/formats/license-text.js';
import { FakeServer, folder, json, page, removeFolder, type Reply } from './server.js';

const KEY = 'ABCDE-FGHJK-LMNPQ-RSTUV-WXYZ2';
const KEY_SHA256 = createHash('sha256').update(KEY).digest('hex');
const START = Date.parse('2026-11-20T12:00:00.000Z');
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const GOOD = { status: 'active', valid: true, verified: false, isTransient: false, fromCache: false };
const CACHED = { ...GOOD, isTransient: true, fromCache: true };
const NOTHING = { status: null, valid: false, verified: false, isTransient: true, fromCache: false };

interface Signer {
  pem: string;
  kid: string;
  key: KeyObject;
}
function signer(): Signer {
  const { privateKey: key, publicKey } = generateKeyPairSync('ed25519');
  const der = publicKey.export({ type: 'spki', format: 'der' });
  const kid = createHash('sha256').update(der).digest('hex').slice(0, 16);
  return { pem: publicKey.export({ type: 'spki', format: 'pem' }).toString(), kid, key };
}

describe('sdk: licenses', () => {
  let server: FakeServer;
  let dir: string;
  let now: number;
  const keys = signer();
  const client = (more: object = {}): Client =>
    createClient({ server: server.url, project: 'shop', cacheDir: dir, machineId: 'm-1', now: () => now, ...more });
  const cacheFile = (): string => join(dir, 'aos-cache.json');
  const cache = async (): Promise<Record<string, unknown>> =>
    JSON.parse(await readFile(cacheFile(), 'utf8')) as Record<string, unknown>;
  const setCache = async (change: object): Promise<void> =>
    writeFile(cacheFile(), JSON.stringify({ ...(await cache()), ...change }));

  const active = (more: object = {}): Record<string, unknown> => ({
    status: 'active',
    valid: true,
    product: 'shop',
    expires_at: null,
    checked_at: new Date(now).toISOString(),
    cache_ttl_hours: 24,
    ...more,
  });
  /** As the service signs it, with the changes made before or after. */
  const signedReply =
    (before: object = {}, after: object = {}, by = keys): Reply =>
    (requested, response) => {
      const { nonce, machine_id } = requested.body;
      const answer = active({ key_sha256: KEY_SHA256, machine_id, nonce, alg: 'ed25519', kid: by.kid, ...before });
      const signature = sign(null, getSignedAnswerBytes(answer), by.key).toString('base64');
      json(200, { ...answer, signature, ...after })(requested, response);
    };

  beforeEach(async () => {
    server = await new FakeServer().start();
    dir = await folder();
    now = START;
  });
  afterEach(async () => {
    await server.stop();
    await removeFolder(dir);
  });

  async function validatedThenOffline(more: object = {}): Promise<void> {
    server.reply = json(200, active(more));
    expect(await client().validateLicense(KEY)).to.deep.equal(GOOD);
    server.reply = page(502, '');
  }

  it('sends key, product, machine and, with a public key, a random nonce', async () => {
    server.reply = signedReply();
    const known = client({ licensePublicKey: [signer().pem, keys.pem] });
    for (const _ of [1, 2]) await known.validateLicense(KEY);
    await known.validateLicense(KEY, { machineId: 'm-2', nonce: 'mine' });
    const [first, second, third] = server.asked.map(({ body }) => body);
    expect(first).to.include({ license_key: KEY, product: 'shop', machine_id: 'm-1' });
    expect(first?.['nonce'])
      .to.match(/^[0-9a-f]{32}$/)
      .and.not.equal(second?.['nonce']);
    expect(third).to.include({ machine_id: 'm-2', nonce: 'mine' });
  });

  it('treats a missing key as no license', async () => {
    server.reply = json(200, active({ status: 'invalid', valid: false }));
    const unset = await client().validateLicense(process.env['AOS_TEST_NO_SUCH_KEY'] as string);
    expect(unset).to.deep.equal({ ...GOOD, status: 'invalid', valid: false });
    expect(server.asked[0]?.body).to.include({ license_key: '' });
  });

  it('caches a response for exactly cache_ttl_hours', async () => {
    await validatedThenOffline();
    now = START + 24 * HOUR - 1;
    expect(await client().validateLicense(KEY)).to.deep.equal(CACHED);
    now = START + 24 * HOUR;
    expect(await client().validateLicense(KEY)).to.deep.equal(NOTHING);
  });

  it('caches a response no longer than until expires_at', async () => {
    await validatedThenOffline({ expires_at: new Date(START + HOUR).toISOString() });
    now = START + HOUR - 1;
    expect(await client().validateLicense(KEY)).to.deep.equal(CACHED);
    now = START + HOUR;
    expect(await client().validateLicense(KEY)).to.deep.equal(NOTHING);
  });

  it('returns the cached response only for the same key, machine and project, in any key spelling', async () => {
    await validatedThenOffline();
    expect(await client().validateLicense(` ${KEY.toLowerCase().replaceAll('-', '')} `)).to.deep.equal(CACHED);
    expect(await client().validateLicense(KEY.replace('A', 'B'))).to.deep.equal(NOTHING);
    expect(await client().validateLicense(KEY, { machineId: 'm-2' })).to.deep.equal(NOTHING);
    expect(await client({ project: 'blog' }).validateLicense(KEY)).to.deep.equal(NOTHING);
  });

  it('ends the grace period on a definite negative response', async () => {
    await validatedThenOffline();
    server.reply = json(200, active({ status: 'revoked', valid: false }));
    expect(await client().validateLicense(KEY)).to.deep.equal({ ...GOOD, status: 'revoked', valid: false });
    server.reply = page(502, '');
    expect(await client().validateLicense(KEY)).to.deep.equal({ ...CACHED, status: 'revoked', valid: false });
  });

  it('ends the grace period on a definite rejection even on a full disk, but not for a mistyped key', async () => {
    await validatedThenOffline();
    const kept = new Map([['aos-cache.json', await readFile(cacheFile(), 'utf8')]]);
    const full: TextStore = {
      read: (name) => kept.get(name) ?? null,
      write: () => false,
      withLock: (_name, work) => Promise.resolve(work()),
      remove: (name) => kept.delete(name),
      listNames: () => [...kept.keys()],
    };
    const onFullDisk = new AnswerCache(full, 'shop');
    const known = onFullDisk.getLicense(KEY_SHA256, 'm-1') ?? expect.fail('nothing is kept');
    const rejected = { ...known, license_status: 'invalid' as const };
    const requested = { askedAt: now, highestSeen: now };
    await onFullDisk.writeLicense({ ...rejected, key_sha256: 'f'.repeat(64) }, requested);
    expect(onFullDisk.getLicense(KEY_SHA256, 'm-1')?.license_status).to.equal('active');
    await onFullDisk.writeLicense(rejected, requested);
    expect(onFullDisk.getLicense(KEY_SHA256, 'm-1')).to.equal(null);
  });

  it('ends the grace period when the clock moves back by more than 5 minutes, until the server responds', async () => {
    await validatedThenOffline();
    now = START + 10 * HOUR;
    expect(await client().validateLicense(KEY)).to.deep.equal(CACHED);
    now -= 5 * MINUTE;
    expect(await client().validateLicense(KEY)).to.deep.equal(CACHED);
    now -= 1;
    expect(await client().validateLicense(KEY)).to.deep.equal(NOTHING);
    now = START + 10 * HOUR;
    expect(await client().validateLicense(KEY)).to.deep.equal(CACHED);
    now = START + HOUR;
    server.reply = json(200, active());
    expect(await client().validateLicense(KEY)).to.deep.equal(GOOD);
    server.reply = page(502, '');
    expect(await client().validateLicense(KEY)).to.deep.equal(CACHED);
  });

  it('stores timestamps after the grace period, so that moving the clock backwards restores nothing', async () => {
    await validatedThenOffline();
    now = START + 30 * HOUR;
    expect(await client().validateLicense(KEY)).to.deep.equal(NOTHING);
    now = START + HOUR;
    expect(await client().validateLicense(KEY)).to.deep.equal(NOTHING);
  });

  it('reads schema 2 repeatedly as unverified, and writes schema 3', async () => {
    const flat = {
      schema: 2,
      product: 'shop',
      license_status: 'active',
      key_sha256: KEY_SHA256,
      checked_at: new Date(START).toISOString(),
      cache_ttl_hours: 24,
    };
    await writeFile(cacheFile(), JSON.stringify(flat));
    for (const options of [{}, { licensePublicKey: keys.pem, legacyCache: true }, {}])
      expect(await client(options).validateLicense(KEY)).to.deep.equal(CACHED);
    now = START + 24 * HOUR;
    expect(await client().validateLicense(KEY)).to.deep.equal(NOTHING);
    now = START - 5 * MINUTE - 1;
    await writeFile(cacheFile(), JSON.stringify(flat));
    expect(await client().validateLicense(KEY), 'a clock set back').to.deep.equal(NOTHING);
    await writeFile(cacheFile(), JSON.stringify({ ...flat, license_status: 'revoked' }));
    expect(await client().validateLicense(KEY)).to.deep.equal({ ...CACHED, status: 'revoked', valid: false });
    await validatedThenOffline();
    expect(await cache()).to.include({ schema: 3, product: 'shop', license_status: 'active', key_sha256: KEY_SHA256 });
  });

  /** As anybody can write it, who may write into the folder. */
  const century = (schema: number): object => ({
    schema,
    product: 'shop',
    license_status: 'active',
    key_sha256: KEY_SHA256,
    checked_at: new Date(START).toISOString(),
    cache_ttl_hours: 24 * 365 * 100,
    ...(schema === 3 && { legacy: true, highest_seen: new Date(START).toISOString() }),
  });
  for (const schema of [2, 3])
    it(`rejects a schema ${schema} cache that ends in a century with a public key, else caps it at a year`, async () => {
      await writeFile(cacheFile(), JSON.stringify(century(schema)));
      expect(await client({ licensePublicKey: keys.pem }).validateLicense(KEY)).to.deep.equal(NOTHING);
      expect(await client({ licensePublicKey: keys.pem, legacyCache: true }).validateLicense(KEY)).to.deep.equal(
        CACHED,
      );
      now = START + 365 * 24 * HOUR - 1;
      expect(await client().validateLicense(KEY)).to.deep.equal(CACHED);
      now += 1;
      expect(await client().validateLicense(KEY)).to.deep.equal(NOTHING);
      expect(await client({ licensePublicKey: keys.pem, legacyCache: true }).validateLicense(KEY)).to.deep.equal(
        NOTHING,
      );
    });

  it('legacyCache: accepts only true and false', () => {
    expect(() => client({ legacyCache: 'yes' })).to.throw(TypeError, 'legacyCache');
  });

  describe('with several license keys', () => {
    const keyOf = (n: number): string => KEY.replace('Z2', `Z${n}`);
    const answer = async (key: string, status = 'active', machineId?: string): Promise<void> => {
      server.reply = json(200, active({ status, valid: status === 'active' }));
      await client().validateLicense(key, machineId === undefined ? {} : { machineId });
      server.reply = page(502, '');
    };
    const rejected = (status: string): object => ({ ...CACHED, status, valid: false });

    it('keeps the response for a valid key when a mistyped key is validated', async () => {
      await answer(KEY);
      for (let n = 3; n < 30; n++) await answer(keyOf(n), 'invalid');
      expect(await client().validateLicense(KEY)).to.deep.equal(CACHED);
      expect(await client().validateLicense(keyOf(29))).to.deep.equal(rejected('invalid'));
      await answer(KEY, 'revoked');
      expect(await client().validateLicense(KEY)).to.deep.equal(rejected('revoked'));
    });

    it('stores eight responses, and evicts the oldest first, including those of other machines', async () => {
      for (let n = 0; n < 9; n++) await answer(keyOf(n));
      expect(await client().validateLicense(keyOf(0))).to.deep.equal(NOTHING);
      for (let n = 1; n < 9; n++) expect(await client().validateLicense(keyOf(n))).to.deep.equal(CACHED);
      await answer(keyOf(8), 'machine_limit', 'm-2');
      expect(await client().validateLicense(keyOf(8))).to.deep.equal(CACHED);
      await answer(keyOf(8), 'active', 'm-2');
      expect(await client().validateLicense(keyOf(8), { machineId: 'm-2' })).to.deep.equal(CACHED);
      expect(await client().validateLicense(keyOf(8))).to.deep.equal(CACHED);
    });

    it('reads and writes the flat format of earlier clients', async () => {
      await answer(keyOf(1));
      await answer(KEY);
      const { others, key_chain, ...flat } = await cache();
      expect(flat).to.include({ schema: 3, license_status: 'active', key_sha256: KEY_SHA256, machine_id: 'm-1' });
      expect(others).to.have.length(1);
      expect(key_chain).to.equal(null);
      await writeFile(cacheFile(), JSON.stringify(flat));
      expect(await client().validateLicense(KEY)).to.deep.equal(CACHED);
      expect(await client().validateLicense(keyOf(1))).to.deep.equal(NOTHING);
    });

    for (const others of ['x', {}, [null, 1, { license_status: 'active' }], Array.from({ length: 50_000 }, () => ({}))])
      it(`ignores invalid entries next to valid ones: ${JSON.stringify(others).slice(0, 40)}`, async () => {
        await answer(KEY);
        await setCache({ others });
        expect(await client().validateLicense(KEY)).to.deep.equal(CACHED);
        await answer(keyOf(1));
        expect(await client().validateLicense(KEY)).to.deep.equal(CACHED);
      });
  });

  for (const [name, text] of Object.entries({
    'schema 4': JSON.stringify({ schema: 4, product: 'shop', license_status: 'active', key_sha256: KEY_SHA256 }),
    'no schema': JSON.stringify({ product: 'shop' }),
    'a list': '[]',
    null: 'null',
    'half a file': '{"schema":3,"prod',
    nothing: '',
    'wrong types': JSON.stringify({ schema: 3, product: 'shop', license_status: 1, highest_seen: {}, update: 'x' }),
  }))
    it(`ignores a cache file with ${name}`, async () => {
      await writeFile(cacheFile(), text);
      expect(await client().validateLicense(KEY)).to.deep.equal(NOTHING);
      expect(await client().checkForUpdate('1.0')).to.include({ isTransient: true, fromCache: false });
      server.reply = json(200, active());
      expect(await client().validateLicense(KEY)).to.deep.equal(GOOD);
    });

  it('works without a cache when its folder is not writable', async () => {
    await writeFile(join(dir, 'file'), '');
    server.reply = json(200, active());
    expect(await client({ cacheDir: join(dir, 'file', 'below') }).validateLicense(KEY)).to.deep.equal(GOOD);
    expect((await getStoredId(join(dir, 'file', 'below'))).text).to.match(/^[0-9a-f-]{36}$/);
  });

  describe('with a public key', () => {
    const verifying = (): Client => client({ licensePublicKey: keys.pem });
    const VERIFIED = { ...GOOD, verified: true };

    it('verifies each response, and the cached response at each read', async () => {
      server.reply = signedReply();
      expect(await verifying().validateLicense(KEY)).to.deep.equal(VERIFIED);
      server.reply = page(502, '');
      expect(await verifying().validateLicense(KEY)).to.deep.equal({ ...CACHED, verified: true });
      const { answer } = await cache();
      await setCache({ cache_ttl_hours: 9_999, checked_at: new Date(START + 900 * HOUR).toISOString() });
      now = START + 24 * HOUR;
      expect(await verifying().validateLicense(KEY), 'what is not signed does not count').to.deep.equal(NOTHING);
      now = START;
      await setCache({ highest_seen: new Date(START).toISOString() });
      await setCache({ answer: { ...(answer as object), cache_ttl_hours: 9_999 } });
      expect(await verifying().validateLicense(KEY), 'a changed answer').to.deep.equal(NOTHING);
      await setCache({ answer: null });
      expect(await verifying().validateLicense(KEY), 'no answer').to.deep.equal(NOTHING);
      await setCache({ answer, checked_at: new Date(START).toISOString() });
      expect(await verifying().validateLicense(KEY)).to.deep.equal({ ...CACHED, verified: true });
      expect(await client({ licensePublicKey: signer().pem }).validateLicense(KEY), 'another key').to.deep.equal(
        NOTHING,
      );
    });

    it('grants the grace period to a machine whose clock is behind', async () => {
      server.reply = signedReply({ checked_at: new Date(START + HOUR).toISOString() });
      expect(await verifying().validateLicense(KEY)).to.deep.equal(VERIFIED);
      server.reply = page(502, '');
      expect(await verifying().validateLicense(KEY)).to.deep.equal({ ...CACHED, verified: true });
    });

    for (const [name, reply] of Object.entries<Reply>({
      'no signature': (requested, response) =>
        json(200, active({ key_sha256: KEY_SHA256, ...requested.body }))(requested, response),
      'a changed field': signedReply({}, { cache_ttl_hours: 9_999 }),
      'another nonce': signedReply({ nonce: 'replayed' }),
      'another key': signedReply({ key_sha256: '0'.repeat(64) }),
      'another machine': signedReply({ machine_id: 'm-9' }),
      'another product': signedReply({ product: 'blog' }),
      'another signer': signedReply({}, {}, signer()),
      'a forged refusal': (requested, response) =>
        json(200, { ...active(), status: 'revoked', valid: false })(requested, response),
    }))
      it(`ignores a response with ${name}`, async () => {
        server.reply = reply;
        expect(await verifying().validateLicense(KEY)).to.deep.equal(NOTHING);
        server.reply = signedReply();
        expect(await verifying().validateLicense(KEY)).to.deep.equal(VERIFIED);
        server.reply = reply;
        expect(await verifying().validateLicense(KEY)).to.deep.equal({ ...CACHED, verified: true });
      });

    it('loads a .lic by path or text, for the current product, machine and time', async () => {
      const lic = (more: object = {}): string => {
        const payload = {
          schema: 1,
          product: 'shop',
          machine_id: 'm-1',
          not_before: new Date(START - HOUR).toISOString(),
          valid_until: new Date(START + 30 * 24 * HOUR).toISOString(),
          expires_at: null,
          ...more,
        };
        const enc = Buffer.from(JSON.stringify(payload)).toString('base64');
        const sig = sign(null, Buffer.from(LICENSE_FILE_SIGNED_PREFIX + enc), keys.key).toString('base64');
        return formatLicenseFile({ enc, sig, alg: 'ed25519', kid: keys.kid });
      };
      const path = join(dir, 'shop.lic');
      await writeFile(path, lic());
      const loaded = await verifying().loadLicenseFile(path);
      expect(loaded.valid).to.equal(true);
      expect(loaded.payload?.product).to.equal('shop');
      expect(await verifying().loadLicenseFile(lic())).to.deep.equal(loaded);
      const reason = async (text: string, from = verifying()): Promise<unknown> => {
        const { valid, reason } = await from.loadLicenseFile(text);
        expect(valid).to.equal(false);
        return reason;
      };
      expect(await reason(join(dir, 'none.lic'))).to.equal('unreadable');
      expect(await reason(lic({ product: 'blog' }))).to.equal('wrong_product');
      expect(await reason(lic({ machine_id: 'm-2' }))).to.equal('wrong_machine');
      expect(await reason(lic({ valid_until: new Date(START).toISOString() }))).to.equal('file_expired');
      expect(await reason(lic({ expires_at: new Date(START).toISOString() }))).to.equal('license_expired');
      expect(await reason(lic(), client())).to.equal('unknown_key');
      expect(await reason(lic(), client({ licensePublicKey: signer().pem }))).to.equal('unknown_key');
      now = START + HOUR;
      expect((await verifying().loadLicenseFile(path)).valid).to.equal(true);
      now = START + HOUR - 5 * MINUTE;
      expect((await verifying().loadLicenseFile(path)).valid).to.equal(true);
      now -= 1;
      expect(await reason(path)).to.equal('clock_set_back');
      now = START + 31 * 24 * HOUR;
      expect(await reason(path)).to.equal('file_expired');
      now = START + 2 * HOUR;
      expect(await reason(path), 'the end of the file was seen').to.equal('clock_set_back');
    });
  });

  it('stores one random machine id per folder where the system has none, even for concurrent callers', async () => {
    const ids = await Promise.all(Array.from({ length: 20 }, () => getStoredId(dir)));
    expect(new Set(ids.map(({ text }) => text)).size).to.equal(1);
    expect(ids.filter(({ isNew }) => isNew)).to.have.length(1);
    expect(await getStoredId(dir)).to.deep.equal({ text: ids[0]?.text, isNew: false });
  });
});
