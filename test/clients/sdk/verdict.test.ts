/** Transient against definite, for update checks and licenses, in one table (contract 90, SDK). */
import { expect } from 'chai';
import { createClient, type Client } from '../../../clients/sdk/index.js';
import { FakeServer, folder, json, page, removeFolder, type Reply } from './server.js';

const KEY = 'ABCDE-FGHJK-LMNPQ-RSTUV-WXYZ2';
const envelope = (code: string): object => ({ status: 'error', error: { code, message: 'No.' } });
const ACTIVE = { status: 'active', valid: true, cache_ttl_hours: 24, expires_at: null };
const CHECK = {
  status: 'success',
  update_available: true,
  latest_version: '2.0',
  release: { version: '2.0', package_url: '/releases/shop/stable/2.0/any/package.tar.gz' },
};

const NO_ANSWER = 'no answer';

/** `definite`: what the status of the license is then; null: transient, and the cache answers. */
const TABLE: { name: string; reply: Reply; license: string | null; update: 'definite' | 'transient' }[] = [
  ...['expired', 'inactive', 'revoked', 'pending', 'invalid', 'product_mismatch'].map(refusedAs),
  ...['machine_limit', 'machine_pending', 'machine_blocked'].map(refusedAs),
  row('401 in the envelope', json(401, envelope('unauthorized')), 'unauthorized', 'definite'),
  row('404 in the envelope', json(404, envelope('not_found')), 'not_found', 'definite'),
  row('422 in the envelope', json(422, envelope('validation_failed')), 'validation_failed', 'definite'),
  row('422 without envelope', json(422, { status: 'invalid_request', fields: {} }), 'invalid_request', 'definite'),
  row('401 of a page', page(401, '<h1>Sign in</h1>'), null, 'transient'),
  row('404 of a page', page(404, '<h1>Not Found</h1>'), null, 'transient'),
  row('404 in another JSON', json(404, { message: 'no route' }), null, 'transient'),
  row('422 in another JSON', json(422, { error: 'no' }), null, 'transient'),
  row('400 in the envelope', json(400, envelope('invalid_request')), null, 'transient'),
  row('403 in the envelope', json(403, envelope('insufficient_scope')), null, 'transient'),
  row('429', json(429, { status: 'rate_limited' }, { 'retry-after': '1' }), null, 'transient'),
  row('429 in the envelope', json(429, envelope('rate_limited')), null, 'transient'),
  ...[500, 502, 503, 504].map((status) =>
    row(`${status}`, json(status, envelope('internal_error')), null, 'transient'),
  ),
  row('503 with a license status', json(503, { status: 'revoked' }), null, 'transient'),
  row('200 of a page', page(200, '<h1>Welcome to the hotel</h1>'), null, 'transient'),
  row('200 in another JSON', json(200, { ok: true }), null, 'transient'),
  row('200 with a list', json(200, []), null, 'transient'),
  row('200 with an unknown status', json(200, { status: 'unknown_error' }), null, 'transient'),
  row('204', (_asked, response) => void response.writeHead(204).end(), null, 'transient'),
  row('302 to a login', page(302, '', { location: 'http://127.0.0.1:1/login' }), null, 'transient'),
  row('half an answer', halfAnAnswer, null, 'transient'),
  row('a reset', (_asked, response) => void response.socket?.destroy(), null, 'transient'),
  row(NO_ANSWER, () => undefined, null, 'transient'),
];

function row(name: string, reply: Reply, license: string | null, update: 'definite' | 'transient'): (typeof TABLE)[0] {
  return { name, reply, license, update };
}
function refusedAs(status: string): (typeof TABLE)[0] {
  return row(`license ${status}`, json(200, { ...ACTIVE, status, valid: false }), status, 'transient');
}
function halfAnAnswer(...[, response]: Parameters<Reply>): void {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': 1000 });
  response.write('{"status":"active"', () => response.destroy());
}

describe('sdk: transient and definite errors', () => {
  let server: FakeServer;
  let dir: string;
  let client: Client;
  /** Has the cache of `client`, and waits for no answer. */
  let impatient: Client;
  beforeEach(async () => {
    server = await new FakeServer().start();
    dir = await folder();
    const open = (timeoutMs: number): Client =>
      createClient({ server: server.url, project: 'shop', cacheDir: dir, timeoutMs });
    client = open(60_000);
    impatient = open(200);
  });
  afterEach(async () => {
    await server.stop();
    await removeFolder(dir);
  });

  for (const { name, reply, license, update } of TABLE) {
    const asking = (): Client => (name === NO_ANSWER ? impatient : client);
    it(`validateLicense: ${name} is ${license === null ? 'transient' : 'definite'}`, async () => {
      server.reply = reply;
      const verified = false;
      expect(await asking().validateLicense(KEY)).to.deep.equal(
        license === null
          ? { status: null, valid: false, verified, isTransient: true, fromCache: false }
          : { status: license, valid: false, verified, isTransient: false, fromCache: false },
      );
      server.reply = json(200, ACTIVE);
      const good = { status: 'active', valid: true, verified, isTransient: false, fromCache: false };
      expect(await client.validateLicense(KEY)).to.deep.equal(good);
      server.reply = reply;
      expect(await asking().validateLicense(KEY)).to.deep.equal(
        license === null ? { ...good, isTransient: true, fromCache: true } : { ...good, status: license, valid: false },
      );
    });

    it(`checkForUpdate: ${name} is ${update}`, async () => {
      server.reply = json(200, CHECK);
      const good = await client.checkForUpdate('1.0', 'stable');
      expect(good).to.deep.equal({
        updateAvailable: true,
        latestVersion: '2.0',
        release: CHECK.release,
        unauthorized: false,
        isTransient: false,
        fromCache: false,
      });
      server.reply = reply;
      const { error, ...result } = await asking().checkForUpdate('1.0', 'stable');
      expect(error?.code).to.be.a('string');
      expect(error?.message).to.be.a('string');
      if (update === 'transient') expect(result).to.deep.equal({ ...good, isTransient: true, fromCache: true });
      else
        expect(result).to.deep.equal({
          updateAvailable: false,
          latestVersion: null,
          release: null,
          unauthorized: name.startsWith('401'),
          isTransient: false,
          fromCache: false,
        });
    });
  }

  it('returns a transient error without a server, and for a name that does not resolve', async () => {
    await server.stop();
    expect(await client.validateLicense(KEY)).to.include({ status: null, isTransient: true });
    const nowhere = createClient({ server: 'http://name.invalid', project: 'shop', cacheDir: dir, timeoutMs: 60_000 });
    expect(await nowhere.checkForUpdate('1.0')).to.deep.include({
      isTransient: true,
      release: null,
      unauthorized: false,
    });
    await server.start();
  });

  it('accepts platform and signal as positional arguments, names the machine, and sends no credential', async () => {
    server.reply = json(200, CHECK);
    const known = createClient({
      server: `${server.url}/aos/`,
      project: 'shop',
      cacheDir: dir,
      token: 't',
      machineId: 'm-1',
    });
    await known.checkForUpdate('1.0', 'beta', 'win-x64', new AbortController().signal);
    const [requested] = server.asked;
    expect(requested?.path).to.equal('/aos/api/updateservice/v1/check');
    expect(Object.fromEntries(requested?.query ?? [])).to.deep.equal({
      product: 'shop',
      version: '1.0',
      channel: 'beta',
      platform: 'win-x64',
      instance_id: 'm-1',
    });
    expect(requested?.headers).not.to.have.property('authorization');
  });

  it('rejects with the abort reason', async () => {
    server.reply = () => undefined;
    const abort = new AbortController();
    const asking = client.checkForUpdate('1.0', 'stable', 'any', abort.signal).catch((error: unknown) => error);
    abort.abort(new Error('enough'));
    expect(await asking)
      .to.be.an('error')
      .with.property('message', 'enough');
    expect(await client.validateLicense(KEY, {}, abort.signal).catch((error: unknown) => error)).to.be.an('error');
  });

  it('rejects invalid options, and names them', () => {
    const options = { server: 'https://aos.example.com', project: 'shop' };
    expect(() => createClient({ ...options, server: 'aos' })).to.throw(TypeError, 'server');
    expect(() => createClient({ ...options, server: 'https://a:b@aos.example.com' })).to.throw(
      TypeError,
      'credentials',
    );
    expect(() => createClient({ ...options, project: 'My Shop' })).to.throw(TypeError, 'project');
    expect(() => createClient({ ...options, token: '' })).to.throw(TypeError, 'token');
    expect(() => createClient({ ...options, licensePublicKey: 'x' })).to.throw('public key');
  });
});
