/**
 * Processes that share a folder (contract 90, SDK: the cache): none takes back what another has
 * kept.
 */
import { expect } from 'chai';
import { fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { createClient, type Client } from '../../../../clients/sdk/index.js';
import { waitUntil } from '../../../harness.js';
import { FakeServer, folder, json, page, removeFolder, type Asked } from '../../../clients/sdk/server.js';
import { ed25519Signer, published, signedBy, type LicenseSigner } from '../../../clients/sdk/signers.js';

const KEY = 'ABCDE-FGHJK-LMNPQ-RSTUV-WXYZ2';
const KEY_SHA256 = createHash('sha256').update(KEY).digest('hex');
const START = Date.parse('2026-11-20T12:00:00.000Z');
const GOOD = { status: 'active', valid: true, verified: true, isTransient: false, fromCache: false };
const CACHED = { ...GOOD, isTransient: true, fromCache: true };
const KEEPER = fileURLToPath(new URL('keeper.js', import.meta.url));

describe('sdk: a cache folder shared by several processes', () => {
  const ring = [ed25519Signer(), ed25519Signer(), ed25519Signer()] as const;
  const [oldest, second, newest] = ring;
  let server: FakeServer;
  let dir: string;
  let now: number;

  const client = (): Client =>
    createClient({
      server: server.url,
      project: 'shop',
      cacheDir: dir,
      machineId: 'm-1',
      now: () => now,
      licensePublicKey: oldest.pem,
    });
  const cacheFile = (): string => join(dir, 'aos-cache.json');
  const answer = (status: string, { body }: Asked, by: LicenseSigner = oldest): Record<string, unknown> => {
    const { nonce, machine_id } = body;
    const valid = status === 'active';
    const times = { expires_at: null, checked_at: new Date(now).toISOString(), cache_ttl_hours: 24 };
    return signedBy(by, { status, valid, product: 'shop', ...times, key_sha256: KEY_SHA256, machine_id, nonce });
  };
  const offline = (): Promise<unknown> => {
    server.reply = page(502, '');
    return client().validateLicense(KEY);
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

  it('loses no concurrent write, and always contains complete files', async () => {
    const keepers = ['a', 'b'].map((name) => fork(KEEPER, [dir, name, '400'], { silent: true }));
    const ended = Promise.all(keepers.map((child) => text(child.stdout ?? expect.fail('no output'))));
    const isRunning = (): boolean =>
      keepers.some(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
    let whole = 0;
    while (isRunning()) {
      const found = await readFile(cacheFile(), 'utf8').catch(() => null);
      if (found === null) continue;
      expect(JSON.parse(found)).to.include({ schema: 3, product: 'shop' });
      whole++;
    }
    expect(await ended, 'lost').to.deep.equal(['0', '0']);
    expect(whole).to.be.above(0);
    expect(await readdir(dir)).to.deep.equal(['aos-cache.json']);
  });

  it('is not locked by a killed process, and is cleaned of that process’s files', async () => {
    server.reply = (requested, response) => json(200, answer('active', requested))(requested, response);
    for (let round = 0; round < 5; round++) {
      const child = fork(KEEPER, [dir, 'a', '1000000'], { silent: true });
      const kept = await readFile(cacheFile(), 'utf8').catch(() => null);
      await waitUntil(
        'another answer was kept',
        async () => (await readFile(cacheFile(), 'utf8').catch(() => null)) !== kept,
      );
      child.kill('SIGKILL');
      await once(child, 'close');
      expect(JSON.parse(await readFile(cacheFile(), 'utf8'))).to.include({ schema: 3, product: 'shop' });
    }
    const [left, own] = ['aos-cache.json.1.0123abcd.tmp', 'mine.tmp'];
    for (const name of [left, own]) {
      await writeFile(join(dir, name), '{');
      await utimes(join(dir, name), new Date(0), new Date(0));
    }
    await writeFile(join(dir, 'aos-cache.json.lock'), '');
    expect(await client().validateLicense(KEY)).to.deep.equal(GOOD);
    expect(await offline(), 'kept').to.deep.equal(CACHED);
    expect(await readdir(dir))
      .to.include(own)
      .and.not.include(left)
      .and.not.include('aos-cache.json.lock');
  });

  /**
   * Asks, and holds the answer that the server makes then until the returned function is called.
   */
  const held = (path: string, made: (requested: Asked) => unknown): Promise<() => Promise<unknown>> =>
    new Promise((resolve) => {
      const before = server.reply;
      server.reply = (requested, response) => {
        if (requested.path !== path) return before(requested, response);
        const body = made(requested);
        resolve(() => {
          json(200, body)(requested, response);
          return mine;
        });
      };
      const mine = client().validateLicense(KEY);
    });

  it('is not overwritten by a late response after a newer response', async () => {
    const late = await held('/api/license/v1/validate', (requested) => answer('active', requested));
    now += 1_000;
    server.reply = (requested, response) => json(200, answer('revoked', requested))(requested, response);
    expect(await client().validateLicense(KEY)).to.include({ status: 'revoked' });
    now += 1_000;
    expect(await late()).to.deep.equal(GOOD);
    expect(await offline()).to.deep.equal({ ...CACHED, status: 'revoked', valid: false });
  });

  it('is overwritten when the stored response comes from a clock that ran ahead', async () => {
    now += 365 * 86_400_000;
    server.reply = (requested, response) => json(200, answer('active', requested))(requested, response);
    expect(await client().validateLicense(KEY)).to.deep.equal(GOOD);
    now = START;
    server.reply = (requested, response) => json(200, answer('revoked', requested))(requested, response);
    expect(await client().validateLicense(KEY)).to.include({ status: 'revoked' });
    expect(await offline()).to.deep.equal({ ...CACHED, status: 'revoked', valid: false });
  });

  it('is not overwritten by a shorter key chain that arrives late', async () => {
    server.reply = (requested, response) => json(200, answer('active', requested, second))(requested, response);
    const late = await held('/api/license/v1/pubkey', () => published(ring.slice(0, 2)));
    now += 1_000;
    server.reply = (requested, response) =>
      json(200, requested.path.endsWith('/pubkey') ? published(ring) : answer('active', requested, newest))(
        requested,
        response,
      );
    expect(await client().validateLicense(KEY)).to.deep.equal(GOOD);
    expect(await late()).to.deep.equal(GOOD);
    expect(await offline()).to.deep.equal(CACHED);
  });
});
