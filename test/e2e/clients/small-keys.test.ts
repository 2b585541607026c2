/**
 * The small clients after `aos license-key rotate`, and what they tell of an error: as the SDK does
 * both (contracts 50 and 90).
 */
import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHash } from 'node:crypto';
import { projectRoot } from '../../architecture/tree.js';
import { FakeServer, json, page } from '../../clients/sdk/server.js';
import {
  ed25519Signer,
  licenseFileBy,
  published,
  rsaSigner,
  signedBy,
  type LicenseSigner,
} from '../../clients/sdk/signers.js';
import { LANGUAGES, type Call, type Driver, type Result } from './small/languages.js';

const KEY = 'ABCDE-FGHJK-LMNPQ-RSTUV-WXYZ2';
const PUBKEY = '/api/license/v1/pubkey';
const GOOD = { status: 'active', valid: true, verified: true, is_transient: false };
const NOTHING = { status: null, valid: false, verified: false, is_transient: true };

for (const [language, prepare] of Object.entries(LANGUAGES))
  describe(`small client for ${language}: chain of license keys`, function () {
    const ring = [ed25519Signer(), rsaSigner(), ed25519Signer(), ed25519Signer()] as const;
    const [oldest, second, third, newest] = ring;
    let dir: string;
    let cacheDir: string;
    let driver: Driver;
    let fake: FakeServer;
    let chainAt: (path: string) => unknown;
    let signer: LicenseSigner;
    let offline: boolean;

    const client = (license_public_key: string | string[]): Record<string, unknown> => ({
      server: fake.url,
      project: 'shop',
      token: 't',
      machine_id: 'm-1',
      cache_dir: cacheDir,
      license_public_key,
    });
    const lic = (by: LicenseSigner): string =>
      licenseFileBy(by, {
        product: 'shop',
        machine_id: 'm-1',
        not_before: '2020-01-01T00:00:00.000Z',
        valid_until: '2099-01-01T00:00:00.000Z',
      });
    const called = (method: string, args: object, pem: string | string[]): Call[] => [
      { client: client(pem), method, args: args as Result },
    ];
    /** By a client of its own, in the one process. */
    const one = async (method: string, args: object, pem: string | string[]): Promise<Result> =>
      (await driver.call(called(method, args, pem)))[0] ?? {};
    const validate = (pem: string | string[]): Promise<Result> => one('validate_license', { key: KEY }, pem);
    /** After a restart of the application. */
    const validateAnew = async (pem: string | string[]): Promise<Result> =>
      (await driver.anew(called('validate_license', { key: KEY }, pem)))[0] ?? {};
    const load = async (pem: string | string[], by: LicenseSigner): Promise<unknown> => {
      const { valid, reason } = await one('load_license_file', { text: lic(by) }, pem);
      return reason ?? valid;
    };
    const requested = (): number => fake.asked.filter(({ path }) => path === PUBKEY).length;

    before(async function () {
      dir = await mkdtemp(join(tmpdir(), 'aos-small-'));
      const found = await prepare(dir);
      if (found === null) this.skip();
      driver = found;
    });
    after(async () => {
      driver?.end();
      await rm(dir, { recursive: true, force: true });
    });
    beforeEach(async () => {
      fake = await new FakeServer().start();
      cacheDir = await mkdtemp(join(dir, 'cache-'));
      chainAt = () => published(ring);
      signer = newest;
      offline = false;
      fake.reply = (question, response) => {
        if (offline) return page(502, '<h1>Bad Gateway</h1>')(question, response);
        if (question.path.endsWith(PUBKEY)) return json(200, chainAt(question.path))(question, response);
        if (!question.path.endsWith('/api/license/v1/validate'))
          return json(200, { status: 'success' })(question, response);
        const { nonce, machine_id, product } = question.body;
        const key_sha256 = createHash('sha256').update(KEY).digest('hex');
        const answer = { status: 'active', valid: true, product, key_sha256, machine_id, nonce };
        json(200, signedBy(signer, answer))(question, response);
      };
    });
    afterEach(() => fake.stop());

    it('leads from any pinned key to the newest key, is stored, and is requested once', async () => {
      for (const pinned of [oldest, second, third]) {
        const before = requested();
        await rm(join(cacheDir, 'aos-keys.json'), { force: true });
        expect(await validate(pinned.pem)).to.include(GOOD);
        expect(await validateAnew(pinned.pem)).to.include(GOOD);
        expect(requested() - before).to.equal(1);
      }
      offline = true;
      expect(await load(oldest.pem, newest), 'by the chain that is kept').to.equal(true);
      expect(await load(oldest.pem, oldest)).to.equal(true);
      expect(await validate(oldest.pem)).to.include(NOTHING);
    });

    it('is requested for a .lic signed by a later key, and not while the pinned key is current', async () => {
      signer = oldest;
      expect(await validate(oldest.pem)).to.include(GOOD);
      expect(await load(oldest.pem, oldest)).to.equal(true);
      expect(requested()).to.equal(0);
      expect(await load(oldest.pem, newest)).to.equal(true);
      expect(requested()).to.equal(1);
    });

    it('never leads to earlier keys when only the newest key is pinned', async () => {
      expect(await load(newest.pem, oldest)).to.equal('unknown_key');
      expect(await load([newest.pem, oldest.pem], oldest)).to.equal(true);
      expect(await load([oldest.pem, newest.pem], second)).to.equal(true);
      offline = true;
      await rm(join(cacheDir, 'aos-keys.json'), { force: true });
      expect(await load(oldest.pem, newest)).to.equal('unknown_key');
    });

    it('is rejected when forged, both from the server and from the folder', async () => {
      const stranger = ed25519Signer();
      const good = published(ring);
      const forged = (change: (list: unknown[]) => unknown): object => ({
        ...good,
        predecessors: change(structuredClone(good.predecessors)),
      });
      const [first = {}] = good.predecessors;
      const chains: Record<string, unknown> = {
        'of strangers': published([stranger, newest]),
        'a link cut out': forged((list) => [list[0], list[2]]),
        'a link of another key': forged(([, ...rest]) => [
          { ...first, signature: stranger.sign(newest.spki) },
          ...rest,
        ]),
        'a key twice': forged((list) => [...list, list[0]]),
        'garbage for a key': forged((list) => [...list, { public_key: 'x', signature: 'x' }]),
        'garbage for a signature': forged(([, ...rest]) => [{ ...first, signature: '*' }, ...rest]),
        'a number for a signature': forged(([, ...rest]) => [{ ...first, signature: 1 }, ...rest]),
        'a long signature': forged(([, ...rest]) => [{ ...first, signature: 'A'.repeat(9_000) }, ...rest]),
        'no list': { ...good, predecessors: 'x' },
        'null in it': forged((list) => [null, ...list]),
        nothing: {},
        'a list': [],
        'too long': published([oldest, ...Array.from({ length: 101 }, ed25519Signer), newest]),
      };
      const names = Object.keys(chains);
      // Each is published below a path of its own, and lies in a folder of its own, since to start
      // a client takes long.
      chainAt = (path) => chains[names[Number(/^\/(\d+)\//.exec(path)?.[1])] ?? ''] ?? good;
      const calls = await Promise.all(
        names.flatMap((name, n) =>
          [`${fake.url}/${n}`, 'http://127.0.0.1:9'].map(async (server, away) => {
            const cache_dir = join(cacheDir, `${n}-${away}`);
            await mkdir(cache_dir);
            if (away === 1) await writeFile(join(cache_dir, 'aos-keys.json'), JSON.stringify(chains[name]));
            const asking = { ...client(oldest.pem), server, cache_dir };
            return away === 1
              ? { client: asking, method: 'load_license_file', args: { text: lic(newest) } }
              : { client: asking, method: 'validate_license', args: { key: KEY } };
          }),
        ),
      );
      const results = await driver.anew(calls);
      for (const [n, name] of names.entries()) {
        expect(results[2 * n], name).to.include(NOTHING);
        expect(results[2 * n + 1], `${name}, in the folder`).to.include({ valid: false, reason: 'unknown_key' });
      }
      await writeFile(join(cacheDir, 'aos-keys.json'), '{"half');
      expect(await validate(oldest.pem)).to.include(GOOD);
      expect(JSON.parse(await readFile(join(cacheDir, 'aos-keys.json'), 'utf8'))).to.have.keys(
        'public_key',
        'predecessors',
      );
    });

    it('works for a single run in a folder that is not writable', async () => {
      await writeFile(join(cacheDir, 'file'), '');
      cacheDir = join(cacheDir, 'file', 'below');
      expect(await validate(oldest.pem)).to.include(GOOD);
      expect(await validateAnew(oldest.pem)).to.include(GOOD);
    });

    it('reports file and line of an error and the members of a group, even by a detached method', async () => {
      for (const how of ['plain', 'group', 'detached']) {
        expect(await one('capture_exception', { how }, [])).to.include({ sent: true });
        const body = fake.asked.at(-1)?.body ?? {};
        expect(body['file'], how).to.match(/driver\.py$|json|Driver\.cs$/i);
        expect(body['line'], how).to.be.a('number').above(0);
        if (how === 'group') expect(body['stack_trace']).to.match(/first member[\s\S]*second member/);
      }
    });
  });

describe('small client for Python: key file', () => {
  it('caches the keys in memory until process exit when the file cannot be written', function () {
    const script = `
import os, sys
sys.path.insert(0, sys.argv[1])
import aos_client
def gone(*_):
    raise FileNotFoundError('the folder was removed')
os.replace = os.unlink = gone
kept = aos_client._KeptChain(sys.argv[2])
kept.keep({'keys': ['one']})
print(kept.read())`;
    const folder = join(tmpdir(), `aos-kept-${process.pid}`);
    const words = ['-c', script, join(projectRoot(), 'clients', 'python'), folder];
    const { error, status, stdout, stderr } = spawnSync('python3', words, { encoding: 'utf8' });
    rmSync(folder, { recursive: true, force: true });
    if (error !== undefined && 'code' in error && error.code === 'ENOENT') this.skip();
    expect([status, stdout.trim(), stderr]).to.deep.equal([0, "{'keys': ['one']}", '']);
  });
});
