/**
 * Two real processes that share nothing but MongoDB, packages included (`releases.url=mongodb:`;
 * contract 95, several processes): what one publishes the other serves, as it would from a
 * directory, to curl; a killed publish leaves nothing.
 */
import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { MongoClient, type Db } from 'mongodb';
import { buildPackage } from '../../kit/contracts/release-store.js';
import { waitUntil } from '../../harness.js';
import { durableEngines } from '../../support/durable-engines.js';
import { runCliInProcess, runCliJsonInProcess } from '../../support/in-process-cli.js';
import { ADMIN_ACCOUNT, runCliJson, QUIET_LOG_SETTINGS, SHARED_KEY, TestService } from '../../support/service.js';

const run = promisify(execFile);
const UPDATES = '/api/updateservice/v1';
const MIB = 1024 * 1024;
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const LOGIN = ['-u', `${ADMIN_ACCOUNT.username}:${ADMIN_ACCOUNT.password}`];

interface Got {
  status: number;
  headers: string;
  body: Buffer;
}

/** What curl gets. */
async function curl(url: string, ...words: readonly string[]): Promise<Got> {
  const command = ['-sS', '--max-time', '30', '-D', '-', ...words, url];
  const { stdout } = await run('curl', command, { encoding: 'buffer', maxBuffer: 64 * MIB });
  const end = stdout.indexOf('\r\n\r\n');
  const headers = stdout.subarray(0, end).toString('latin1').toLowerCase();
  return { status: Number(/^http\/\S+ (\d+)/.exec(headers)?.[1]), headers, body: stdout.subarray(end + 4) };
}

const headerOf = ({ headers }: Got, name: string): string | undefined =>
  new RegExp(`^${name}: (.*)$`, 'm').exec(headers)?.[1]?.trim();

describe('start: packages in MongoDB', function () {
  let folder: string;
  let settings: Record<string, string>;
  let client: MongoClient;
  let db: Db;
  let one: TestService;
  let two: TestService;
  let token: string;
  const services: TestService[] = [];
  const service = async (extra: Record<string, string>): Promise<TestService> => {
    const made = await TestService.create(extra);
    services.push(made);
    return made;
  };
  before(async function () {
    const found = await durableEngines.find(({ name }) => name === 'mongodb')?.settings();
    if (!found) this.skip();
    settings = { ...found, SVC_RELEASES__URL: 'mongodb:' };
    folder = await mkdtemp(join(tmpdir(), 'aos-gridfs-'));
    client = new MongoClient(String(settings['SVC_STORAGE_URL']));
    db = client.db();
    one = await service(settings);
    two = await service(settings);
    await one.start();
    await two.start();
    await one.createProject('shop');
    token = await one.createToken('updateservice:publish');
  });
  after(async () => {
    for (const each of services) await each.dispose();
    if (client === undefined) return;
    await db.dropDatabase();
    await client.close();
    await rm(folder, { recursive: true, force: true });
  });

  const publish = async (to: TestService, version: string, bytes: Uint8Array): Promise<Record<string, unknown>> => {
    const answer = await fetch(`${to.url}${UPDATES}/publish?product=shop&version=${version}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/gzip' },
      body: Buffer.from(bytes),
    });
    return { ...((await answer.json()) as object), status: answer.status };
  };
  const offered = async (by: TestService): Promise<{ version: string; package_url: string; package_sha256: string }> =>
    (await by.request('GET', `${UPDATES}/check?product=shop&version=0`, null)).body['release'] as never;
  const content = buildPackage({ 'app.bin': randomBytes(3 * MIB).toString('base64') });

  it('serves packages published by another process, with ranges, and only with a credential', async () => {
    expect(await publish(one, '1.0', content)).to.include({ status: 201 });
    await waitUntil('the other offers it', async () => (await offered(two))?.version === '1.0');
    const { package_url, package_sha256 } = await offered(two);
    expect(package_sha256).to.equal(sha256(content));
    for (const { url } of [one, two]) {
      const at = url + package_url;
      expect((await curl(at)).status).to.equal(401);
      expect((await curl(at, '-u', `${ADMIN_ACCOUNT.username}:wrong`)).status).to.equal(401);
      expect((await curl(`${url}/releases/shop/.htpasswd`, ...LOGIN)).status).to.equal(403);
      expect((await curl(`${url}/releases/.incoming/x`, ...LOGIN)).status).to.equal(404);
      const whole = await curl(at, ...LOGIN);
      expect(whole.status).to.equal(200);
      expect(sha256(whole.body)).to.equal(package_sha256);
      const etag = headerOf(whole, 'etag') ?? '';
      const part = await curl(at, ...LOGIN, '-r', '262100-262199', '-H', `If-Range: ${etag}`);
      expect(part.status).to.equal(206);
      expect(headerOf(part, 'content-range')).to.equal(`bytes 262100-262199/${content.length}`);
      expect(part.body.equals(content.subarray(262_100, 262_200))).to.equal(true);
      const last = await curl(at, ...LOGIN, '-r', '-10');
      expect(last.body.equals(content.subarray(-10))).to.equal(true);
      expect((await curl(at, ...LOGIN, '-r', '0-9', '-H', 'If-Range: "another"')).status).to.equal(200);
      expect((await curl(at, ...LOGIN, '-r', `${content.length}-`)).status).to.equal(416);
      expect((await curl(at, ...LOGIN, '-H', `If-None-Match: ${etag}`)).status).to.equal(304);
      const head = await curl(at, ...LOGIN, '--head');
      expect([head.status, headerOf(head, 'content-length')]).to.deep.equal([200, String(content.length)]);
      const latest = await curl(`${url}/releases/shop/stable/latest.json`, ...LOGIN);
      expect(JSON.parse(latest.body.toString())).to.include({ latest: '1.0' });
    }
    for (const { dataDir } of [one, two]) expect(await readdir(dataDir)).to.not.include('releases');
  });

  it('reports in self-test, health and doctor that anonymous requests are rejected', async () => {
    const tested = await runCliJson<{ protection: string }>(one.env, ['store', 'selftest']);
    expect(tested.protection).to.equal('protected');
    const { body } = await two.request('GET', '/api/health', SHARED_KEY);
    const { release_store } = body['checks'] as { release_store: object };
    expect(release_store).to.include({ ok: true, protection: 'protected' });
    const { stdout } = await runCliInProcess(two.env, ['doctor', '--json']);
    const { items } = JSON.parse(stdout) as { items: { check: string; ok: boolean; detail: string }[] };
    expect(items.find(({ check }) => check === 'access files')).to.deep.include({
      ok: true,
      detail: 'in MongoDB with the packages: only this service serves them',
    });
    expect(items.filter(({ ok, check }) => !ok && /release|store/.test(check))).to.deep.equal([]);
  });

  it('replaces and withdraws packages in all processes immediately', async () => {
    const next = buildPackage({ 'app.txt': 'next' });
    expect(await publish(two, '1.0', next)).to.include({ status: 200, replaced: true });
    const path = '/releases/shop/stable/1.0/any/package.tar.gz';
    expect((await curl(one.url + path, ...LOGIN)).body.equals(next)).to.equal(true);
    const withdrawn = { product: 'shop', version: '1.0', channel: 'stable', reason: 'bad' };
    expect((await two.request('POST', `${UPDATES}/withdraw`, token, withdrawn)).status).to.equal(200);
    expect((await curl(one.url + path, ...LOGIN)).status).to.equal(404);
    expect(await publish(one, '1.0', next)).to.include({ status: 200 });
  });

  it('exposes nothing of a publish that was killed, and accepts it again', async () => {
    const countIncomingChunks = async (): Promise<number> => {
      const marks = await db.collection('releases.marks').find({ state: 'incoming' }).toArray();
      return db.collection('releases.chunks').countDocuments({ files_id: { $in: marks.map(({ _id }) => _id) } });
    };
    const sending = request(`${one.url}${UPDATES}/publish?product=shop&version=2.0`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/gzip' },
    });
    // The process is killed under it.
    sending.on('error', () => undefined);
    sending.write(content.subarray(0, 2 * MIB));
    await waitUntil('pieces have arrived', async () => (await countIncomingChunks()) > 1);
    await one.stop('SIGKILL');
    sending.destroy();
    await one.start();
    for (const each of [one, two]) expect(await offered(each)).to.include({ version: '1.0' });
    expect((await curl(`${two.url}/releases/shop/stable/2.0/any/package.tar.gz`, ...LOGIN)).status).to.equal(404);
    let last: Record<string, unknown> = {};
    await waitUntil(
      'the publish of before is known to be gone',
      async () => (last = await publish(two, '2.0', content))['status'] !== 409,
      90_000,
    );
    expect(last).to.include({ status: 201 });
    await waitUntil('both offer it', async () => {
      const [here, there] = await Promise.all([offered(one), offered(two)]);
      return here.version === '2.0' && there.version === '2.0';
    });
    expect(sha256((await curl(one.url + (await offered(one)).package_url, ...LOGIN)).body)).to.equal(sha256(content));
    const marks = db.collection('releases.marks');
    await waitUntil(
      'only the mark of the killed publish is left',
      async () => (await marks.countDocuments({ state: 'incoming' })) === 1,
    );
  });

  it('moves its packages to a directory by an export, and back', async () => {
    const keys = Object.fromEntries(Object.entries(settings).filter(([name]) => /KEY/.test(name)));
    const file = join(folder, 'all.aos');
    await runCliJson(one.env, ['export', file]);
    const embedded = await service(keys);
    expect(await runCliJsonInProcess(embedded.env, ['import', file])).to.include({ packages: 2 });
    const path = 'releases/shop/stable/2.0/any/package.tar.gz';
    expect(sha256(await readFile(join(embedded.dataDir, path)))).to.equal(sha256(content));
    const back = join(folder, 'back.aos');
    await runCliJsonInProcess(embedded.env, ['export', back]);
    const url = new URL(String(settings['SVC_STORAGE_URL']));
    url.pathname += '_moved';
    const moved = await service({ ...QUIET_LOG_SETTINGS, ...settings, SVC_STORAGE_URL: url.href });
    try {
      expect(await runCliJson(moved.env, ['import', back])).to.include({ packages: 2 });
      await moved.startInProcess();
      await waitUntil('it is offered', async () => (await offered(moved))?.version === '2.0');
      expect(sha256((await curl(`${moved.url}/${path}`, ...LOGIN)).body)).to.equal(sha256(content));
      const small = join(folder, 'small.aos');
      expect(await runCliJsonInProcess(moved.env, ['export', small, '--without-releases'])).to.not.equal(null);
      expect((await readFile(small)).length).to.be.below(content.length);
    } finally {
      await client.db(url.pathname.slice(1)).dropDatabase();
    }
  });

  it('does not start with a contradictory configuration', async () => {
    const keys = Object.fromEntries(Object.entries(settings).filter(([name]) => /KEY/.test(name)));
    const wrong: [Record<string, string>, RegExp][] = [
      [{ ...keys, SVC_RELEASES__URL: 'mongodb:' }, /releases\.url requires storage\.url to be a MongoDB database/],
      [{ ...settings, SVC_RELEASES__WEB_PATH: '/srv' }, /releases\.url .*remove releases\.web_path/],
      [{ ...settings, SVC_RELEASES__URL: 's3:bucket' }, /releases\.url must be `mongodb:`/],
    ];
    for (const [given, line] of wrong) {
      const { code, stderr } = await runCliInProcess((await service(given)).env, ['serve']);
      expect(code, String(line)).to.equal(1);
      expect(stderr).to.match(line);
    }
  });
});
