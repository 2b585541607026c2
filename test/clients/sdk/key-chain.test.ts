/**
 * After `aos license-key rotate`: a client follows the chain from a key that it pinned, and from no
 * other (contract 50, license files).
 */
import { expect } from 'chai';
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient, type Client } from '../../../clients/sdk/index.js';
import { FakeServer, folder, json, page, removeFolder } from './server.js';
import { ed25519Signer, licenseFileBy, published, rsaSigner, signedBy, type LicenseSigner } from './signers.js';

const KEY = 'ABCDE-FGHJK-LMNPQ-RSTUV-WXYZ2';
const KEY_SHA256 = createHash('sha256').update(KEY).digest('hex');
const NOW = Date.parse('2026-11-20T12:00:00.000Z');
const GOOD = { status: 'active', valid: true, verified: true, isTransient: false, fromCache: false };
const CACHED = { ...GOOD, isTransient: true, fromCache: true };
const NOTHING = { status: null, valid: false, verified: false, isTransient: true, fromCache: false };
const PUBKEY = '/api/license/v1/pubkey';

describe('sdk: chain of license keys', () => {
  // A seed at first, then a configured RSA key, then two of Ed25519.
  const ring = [ed25519Signer(), rsaSigner(), ed25519Signer(), ed25519Signer()] as const;
  const [oldest, second, third, newest] = ring;
  let server: FakeServer;
  let dir: string;
  let chain: unknown;
  let signer: LicenseSigner;
  let offline: boolean;

  const client = (licensePublicKey: string | string[], more: object = {}): Client =>
    createClient({
      server: server.url,
      project: 'shop',
      cacheDir: dir,
      machineId: 'm-1',
      now: () => NOW,
      licensePublicKey,
      ...more,
    });
  const validate = (pem: string | string[]): Promise<unknown> => client(pem).validateLicense(KEY);
  const lic = (by: LicenseSigner): string =>
    licenseFileBy(by, {
      product: 'shop',
      machine_id: 'm-1',
      not_before: '2026-11-01T00:00:00.000Z',
      valid_until: '2026-12-01T00:00:00.000Z',
    });
  const load = async (pem: string | string[], by: LicenseSigner): Promise<unknown> => {
    const { valid, reason } = await client(pem).loadLicenseFile(lic(by));
    return reason ?? valid;
  };
  const cacheFile = (): string => join(dir, 'aos-cache.json');
  const changeCache = async (change: (cache: Record<string, unknown>) => object): Promise<void> =>
    writeFile(cacheFile(), JSON.stringify(change(JSON.parse(await readFile(cacheFile(), 'utf8')) as never)));
  const requested = (): number => server.asked.filter(({ path }) => path === PUBKEY).length;

  beforeEach(async () => {
    server = await new FakeServer().start();
    dir = await folder();
    chain = published(ring);
    signer = newest;
    offline = false;
    server.reply = (question, response) => {
      if (offline) return page(502, '<h1>Bad Gateway</h1>')(question, response);
      if (question.path === PUBKEY) return json(200, chain)(question, response);
      const { nonce, machine_id } = question.body;
      const answer = {
        status: 'active',
        valid: true,
        product: 'shop',
        expires_at: null,
        checked_at: new Date(NOW).toISOString(),
        cache_ttl_hours: 24,
        key_sha256: KEY_SHA256,
        machine_id,
        nonce,
      };
      json(200, signedBy(signer, answer))(question, response);
    };
  });
  afterEach(async () => {
    await server.stop();
    await removeFolder(dir);
  });

  for (const [name, pinned] of Object.entries({ oldest, second, third }))
    it(`leads from the ${name} key to the newest key, online and offline, with one request`, async () => {
      expect(await validate(pinned.pem)).to.deep.equal(GOOD);
      expect(await validate(pinned.pem)).to.deep.equal(GOOD);
      expect(requested()).to.equal(1);
      offline = true;
      expect(await validate(pinned.pem)).to.deep.equal(CACHED);
      expect(await load(pinned.pem, newest), 'a file of the newest key, by the chain in the cache').to.equal(true);
      expect(await load(pinned.pem, pinned), 'a file of the pinned key').to.equal(true);
      expect(requested()).to.equal(1);
    });

  it('is not requested while the pinned key is current', async () => {
    signer = oldest;
    expect(await validate(oldest.pem)).to.deep.equal(GOOD);
    expect(await load(oldest.pem, oldest)).to.equal(true);
    expect(requested()).to.equal(0);
  });

  it('is requested for a .lic signed by a later key, and stored', async () => {
    expect(await load(oldest.pem, newest)).to.equal(true);
    offline = true;
    expect(await load(oldest.pem, third)).to.equal(true);
  });

  it('is replaced when it expires before the next rotation', async () => {
    chain = published(ring.slice(0, 3));
    signer = third;
    expect(await validate(oldest.pem)).to.deep.equal(GOOD);
    chain = published(ring);
    signer = newest;
    expect(await validate(oldest.pem)).to.deep.equal(GOOD);
    expect(requested()).to.equal(2);
  });

  it('never leads to earlier keys, so that a client pinned to the newest key must list earlier keys', async () => {
    expect(await load(newest.pem, oldest)).to.equal('unknown_key');
    expect(await load([newest.pem, oldest.pem], oldest)).to.equal(true);
    expect(await load([oldest.pem, newest.pem], second), 'a key between two pinned ones').to.equal(true);
    signer = oldest;
    expect(await validate(newest.pem)).to.deep.equal(NOTHING);
  });

  it('does not accept a later key without a server and a cached chain', async () => {
    offline = true;
    expect(await load(oldest.pem, newest)).to.equal('unknown_key');
    expect(await validate(oldest.pem)).to.deep.equal(NOTHING);
  });

  const stranger = ed25519Signer();
  const predecessors = published(ring).predecessors as Record<string, unknown>[];
  const forged = (change: (list: Record<string, unknown>[]) => unknown): object => ({
    ...published(ring),
    predecessors: change(structuredClone(predecessors)),
  });
  const REFUSED: Record<string, () => unknown> = {
    'of strangers': () => published([stranger, newest]),
    'whose newest key the pinned one has not signed': () => ({
      ...published([...ring.slice(0, 3), stranger]),
      public_key: newest.pem,
    }),
    'with a link cut out': () => forged((list) => [list[0], list[2]]),
    'with a link signed by another key': () =>
      forged(([first, ...rest]) => [{ ...first, signature: stranger.sign(newest.spki) }, ...rest]),
    'with a key twice': () => forged((list) => [...list, list[0]]),
    'that ends in itself': () => ({ ...published([oldest, newest, third]), public_key: oldest.pem }),
    'with garbage for a key': () => forged((list) => [...list, { public_key: 'x', signature: 'x' }]),
    'with garbage for a signature': () => forged(([first, ...rest]) => [{ ...first, signature: '*' }, ...rest]),
    'with a long signature': () => forged(([first, ...rest]) => [{ ...first, signature: 'A'.repeat(9_000) }, ...rest]),
    'with an invalid signature': () => forged(([first, ...rest]) => [{ ...first, signature: 1 }, ...rest]),
    'that is no list': () => ({ ...published(ring), predecessors: 'x' }),
    'with null in it': () => forged((list) => [null, ...list]),
    'that is nothing': () => ({}),
    'that is a page of another server': () => '<h1>Hotel</h1>',
    // The pinned key stands behind a hundred others.
    'that is too long': () => published([oldest, ...Array.from({ length: 101 }, ed25519Signer), newest]),
  };
  for (const [name, made] of Object.entries(REFUSED)) {
    it(`rejects a chain ${name}, and does not store it`, async () => {
      chain = made();
      expect(await validate(oldest.pem)).to.deep.equal(NOTHING);
      expect(await load(oldest.pem, newest)).to.equal('unknown_key');
      chain = published(ring);
      expect(await validate(oldest.pem), 'and the good one is taken').to.deep.equal(GOOD);
    });

    it(`rejects a chain ${name} in the cache`, async () => {
      expect(await validate(oldest.pem)).to.deep.equal(GOOD);
      await changeCache((cache) => ({ ...cache, key_chain: made() }));
      offline = true;
      expect(await validate(oldest.pem)).to.deep.equal(NOTHING);
      expect(await load(oldest.pem, newest)).to.equal('unknown_key');
    });
  }

  it('does not trust responses because of a foreign chain in the cache', async () => {
    expect(await validate(oldest.pem)).to.deep.equal(GOOD);
    signer = stranger;
    await changeCache((cache) => ({
      ...cache,
      key_chain: published([stranger, newest]),
      answer: signedBy(stranger, cache['answer'] as Record<string, unknown>),
    }));
    expect(await validate(oldest.pem)).to.deep.equal(NOTHING);
  });

  it('requires matching kid and alg of the followed key', async () => {
    expect(await validate(oldest.pem)).to.deep.equal(GOOD);
    for (const change of [{ alg: 'rsa-sha256' as const }, { kid: third.kid }, { sign: stranger.sign }])
      expect(await load(oldest.pem, { ...newest, ...change })).to.be.oneOf(['malformed', 'wrong_signature']);
  });
});
