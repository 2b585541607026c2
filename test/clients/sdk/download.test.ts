/** `downloadUpdate` and `launchAgent` (contract 90, SDK). */
import { expect } from 'chai';
import { createHash } from 'node:crypto';
import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient, type Client } from '../../../clients/sdk/index.js';
import { waitUntil } from '../../harness.js';
import { FakeServer, folder, page, removeFolder, type Reply } from './server.js';

const KEY = 'ABCDE-FGHJK-LMNPQ-RSTUV-WXYZ2';
const NAME = `lic_${createHash('sha256').update(KEY).digest('hex').slice(0, 16)}`;
const BASIC = `Basic ${Buffer.from(`${NAME}:${KEY}`).toString('base64')}`;
const BYTES = Buffer.alloc(300_000, 'package');
const RELEASE = {
  package_url: '/releases/shop/stable/2.0/any/package.tar.gz',
  package_size: BYTES.length,
  package_sha256: createHash('sha256').update(BYTES).digest('hex'),
};

const BREAK_AFTER = 100_000;
const sizeOf = (path: string): Promise<number> =>
  stat(path).then(
    ({ size }) => size,
    () => 0,
  );

/**
 * Answers Range. With the path of a partial file it breaks off when BREAK_AFTER more bytes are in
 * that.
 */
const packageOf =
  (bytes: Buffer, part?: string): Reply =>
  ({ headers }, response) => {
    const from = Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1] ?? 0);
    const rest = bytes.subarray(from);
    const range = from > 0 ? { 'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}` } : {};
    response.writeHead(from > 0 ? 206 : 200, { 'content-length': rest.length, ...range });
    if (part === undefined || rest.length <= BREAK_AFTER) {
      response.end(rest);
      return;
    }
    response.write(rest.subarray(0, BREAK_AFTER));
    const isStored = async (): Promise<boolean> => response.closed || (await sizeOf(part)) >= from + BREAK_AFTER;
    void waitUntil('the bytes are stored', isStored).finally(() => response.destroy());
  };

describe('sdk: downloads', () => {
  let server: FakeServer;
  let dir: string;
  let client: Client;
  let path: string;
  beforeEach(async () => {
    server = await new FakeServer().start();
    dir = await folder();
    path = join(dir, 'package.tar.gz');
    client = createClient({
      server: server.url,
      project: 'shop',
      licenseKey: KEY.toLowerCase(),
      cacheDir: dir,
      timeoutMs: 60_000,
    });
  });
  afterEach(async () => {
    await server.stop();
    await removeFolder(dir);
  });

  it('verifies the checksum, reports progress, and sends the license key', async () => {
    server.reply = packageOf(BYTES);
    const seen: number[] = [];
    const result = await client.downloadUpdate(RELEASE, path, (done, total) => {
      expect(total).to.equal(BYTES.length);
      seen.push(done);
    });
    expect(result).to.deep.equal({ path, unauthorized: false, isTransient: false });
    expect(BYTES.equals(await readFile(path))).to.equal(true);
    expect(seen[0]).to.equal(0);
    expect(seen.at(-1)).to.equal(BYTES.length);
    expect(server.asked[0]?.headers['authorization']).to.equal(BASIC);
    expect(await readdir(dir)).to.deep.equal(['package.tar.gz']);
  });

  it('resumes an interrupted download, in the same call and in the next', async () => {
    server.reply = packageOf(BYTES, `${path}.part`);
    expect(await client.downloadUpdate(RELEASE, path)).to.include({ path });
    expect(server.asked.map(({ headers }) => headers.range)).to.deep.equal([
      undefined,
      'bytes=100000-',
      'bytes=200000-',
    ]);
    await writeFile(`${path}.part`, BYTES.subarray(0, 299_999));
    expect(await client.downloadUpdate(RELEASE, path)).to.include({ path });
    expect(server.asked.at(-1)?.headers.range).to.equal('bytes=299999-');
  });

  it('restarts once when the partial file does not match', async () => {
    server.reply = packageOf(BYTES);
    await writeFile(`${path}.part`, Buffer.alloc(1_000, 'other'));
    expect(await client.downloadUpdate(RELEASE, path)).to.include({ path });
    expect(BYTES.equals(await readFile(path))).to.equal(true);
    await writeFile(`${path}.part`, Buffer.alloc(BYTES.length + 1));
    expect(await client.downloadUpdate(RELEASE, path)).to.include({ path });
  });

  for (const [name, reply, code, how] of [
    ['other bytes', packageOf(Buffer.alloc(BYTES.length, 'x')), 'checksum_mismatch', {}],
    ['more bytes', packageOf(Buffer.concat([BYTES, BYTES])), 'checksum_mismatch', {}],
    ['401', page(401, 'Apache'), 'unauthorized', { unauthorized: true }],
    ['404', page(404, ''), 'not_found', {}],
    ['429', page(429, ''), 'http_429', { isTransient: true }],
    ['503', page(503, ''), 'http_503', { isTransient: true }],
    ['a circle of redirects', page(302, '', { location: '/again' }), 'redirect', { isTransient: true }],
    ['a reset', (_asked, response) => void response.socket?.destroy(), 'network', { isTransient: true }],
  ] as [string, Reply, string, object][])
    it(`leaves no package after ${name}`, async () => {
      server.reply = reply;
      const { error, ...result } = await client.downloadUpdate(RELEASE, path);
      expect(result).to.deep.equal({ path: null, unauthorized: false, isTransient: false, ...how });
      expect(error?.code).to.equal(code);
      expect(await readdir(dir)).not.to.include('package.tar.gz');
    });

  it('sends credentials only to the server’s origin', async () => {
    const other = await new FakeServer().start();
    other.reply = packageOf(BYTES);
    server.reply = page(302, '', { location: `${other.url}/elsewhere` });
    expect(await client.downloadUpdate(RELEASE, path)).to.include({ path });
    expect(other.asked[0]?.headers).not.to.have.property('authorization');
    await other.stop();
  });

  it('downloads only packages that belong to releases', async () => {
    for (const package_url of ['http://other.example/x', '//other.example/x', '/releases/../api/health', '/etc/passwd'])
      expect((await client.downloadUpdate({ ...RELEASE, package_url }, path)).error?.code).to.equal('invalid_release');
    expect(server.asked).to.have.length(0);
  });

  it('rejects with the abort reason', async () => {
    server.reply = packageOf(BYTES, `${path}.part`);
    const abort = new AbortController();
    const stop = (done: number): void => void (done > 0 && abort.abort(new Error('enough')));
    const error = await client.downloadUpdate(RELEASE, path, stop, abort.signal).catch((error: unknown) => error);
    expect(error).to.be.an('error').with.property('message', 'enough');
  });

  it('launches the agent with its settings, and passes the license key only in the environment', async function () {
    if (process.platform === 'win32') this.skip();
    const agent = join(dir, 'update-agent');
    const reported = join(dir, 'told');
    await writeFile(
      agent,
      `#!/bin/sh\nprintf '%s\\n' "$SVC_PRODUCT_KEY" "$@" > ${reported}.tmp\nmv ${reported}.tmp ${reported}\n`,
    );
    await chmod(agent, 0o755);
    const result = await client.launchAgent({
      path: agent,
      dir,
      channel: 'beta',
      currentVersion: '1.0',
      requireSigned: true,
    });
    expect(result.launched).to.equal(true);
    await waitUntil('the agent is launched', async () => (await readdir(dir)).includes('told'));
    const [key, ...args] = (await readFile(reported, 'utf8')).trimEnd().split('\n');
    expect(key).to.equal(KEY.toLowerCase());
    expect(args.join(' ')).to.equal(
      `--server ${server.url}/ --project shop --dir ${dir} --channel beta --current-version 1.0 ` +
        `--action update --wait-for-pid ${process.pid} --restart --require-signed`,
    );
    expect(await client.launchAgent({ path: join(dir, 'none') })).to.include({ launched: false });
  });
});
