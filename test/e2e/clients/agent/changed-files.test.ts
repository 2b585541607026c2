/**
 * Updates by changed files of a large release from the real service, with packages in a directory
 * and in MongoDB (contract 97, files of a release).
 */
import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import { waitUntil } from '../../../harness.js';
import { durableEngines } from '../../../support/durable-engines.js';
import { buildArchive, sha256, type SourceFile } from '../../../support/release-server.js';
import { ADMIN_ACCOUNT, TestService } from '../../../support/service.js';
import { install, remove, runAgent, scratch } from './agent.js';

const FILES = 400;
const FILE_BYTES = 40_000;
const CHANGED_FILES = 3;
const MAX_PERCENT = 2;
/** With the headers of the response. */
const CUT_BYTES = 20_000;

const bulk = Array.from({ length: FILES }, (_, n) => ({ path: `lib/${n}.bin`, content: randomBytes(FILE_BYTES) }));
const first: SourceFile[] = [{ path: 'start.sh', content: '#!/bin/sh\necho 1\n', mode: '0755' }, ...bulk];
const second: SourceFile[] = first.map((file, n) =>
  n > 0 && n <= CHANGED_FILES ? { ...file, content: randomBytes(FILE_BYTES) } : file,
);
const listHashes = (...releases: (readonly SourceFile[])[]): string[] =>
  [...new Set(releases.flat().map(({ content }) => sha256(content)))].toSorted();

/** Counts the bytes that a client receives, and cuts its connection once within a file. */
class CountingProxy {
  received = 0;
  cuts = 0;

  private constructor(readonly server: Server) {}

  static async start(target: number): Promise<CountingProxy> {
    const proxy = new CountingProxy(createServer());
    proxy.server.on('connection', (near) => {
      const far = connect(target, '127.0.0.1');
      let fileAt = Infinity;
      near.on('data', (piece: Buffer) => {
        if (piece.includes('/files/')) fileAt = proxy.received;
        far.write(piece);
      });
      far.on('data', (piece: Buffer) => {
        const isCut = proxy.cuts === 0 && proxy.received + piece.length > fileAt + CUT_BYTES;
        const part = isCut ? piece.subarray(0, fileAt + CUT_BYTES - proxy.received) : piece;
        proxy.received += part.length;
        near.write(part);
        if (!isCut) return;
        proxy.cuts++;
        near.destroySoon();
        far.destroy();
      });
      near.on('end', () => far.end()).on('error', () => far.destroy());
      far.on('end', () => near.end()).on('error', () => near.destroy());
    });
    await once(proxy.server.listen(0, '127.0.0.1'), 'listening');
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }
}

const engines = durableEngines.map((engine) => ({
  name: engine.name === 'mongodb' ? 'MongoDB' : 'a directory',
  settings: async () => {
    const found = await engine.settings();
    return found === null || engine.name !== 'mongodb' ? found : { ...found, SVC_RELEASES__URL: 'mongodb:' };
  },
}));

for (const engine of engines)
  describe(`update by changed files from ${engine.name}`, () => {
    let service: TestService;
    let proxy: CountingProxy;
    let token: string;
    let dir: string;
    let client: MongoClient | null = null;
    before(async function () {
      const settings = await engine.settings();
      if (settings === null) this.skip();
      dir = await scratch();
      service = await TestService.createInProcess(settings);
      if (settings['SVC_RELEASES__URL'] !== undefined) client = new MongoClient(String(settings['SVC_STORAGE_URL']));
      proxy = await CountingProxy.start(Number(new URL(service.url).port));
      await service.createProject('shop');
      token = await service.createToken('updateservice:publish');
    });
    after(async () => {
      proxy?.server.close();
      await service?.dispose();
      await client?.db().dropDatabase();
      await client?.close();
      if (dir !== undefined) await remove(dir);
    });

    const publish = async (version: string, files: readonly SourceFile[]): Promise<void> => {
      const url = `${service.url}/api/updateservice/v1/publish?product=shop&version=${version}&channel=stable`;
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/gzip' };
      const answer = await fetch(url, { method: 'POST', headers, body: new Uint8Array(buildArchive(files)) });
      expect(answer.status, await answer.text()).to.equal(201);
    };
    const listStored = async (): Promise<string[]> => {
      if (client !== null) {
        const contents = await client.db().collection('releases.contents').find().toArray();
        return contents.map(({ _id }) => String(_id)).toSorted();
      }
      const pool = join(service.dataDir, 'releases', '.files');
      const names = await readdir(pool, { recursive: true }).catch((): string[] => []);
      return names
        .map((name) => name.slice(3))
        .filter((name) => name.length === 64)
        .toSorted();
    };
    const expectStored = async (...releases: (readonly SourceFile[])[]): Promise<void> => {
      const wanted = listHashes(...releases).join();
      await waitUntil('the files of the releases are stored', async () => (await listStored()).join() === wanted);
    };
    const withdraw = async (version: string): Promise<void> => {
      const body = { product: 'shop', channel: 'stable', version, reason: 'test' };
      expect((await service.request('POST', '/api/updateservice/v1/withdraw', token, body)).status).to.equal(200);
    };

    it(`downloads less than ${MAX_PERCENT} % of the bytes, and repeats a file after a cut`, async () => {
      await publish('1.0', first);
      const { release } = (await (
        await fetch(`${service.url}/api/updateservice/v1/check?product=shop&version=0`)
      ).json()) as { release: { manifest_json: string } };
      await install(dir, { manifest: release.manifest_json, files: first });
      await publish('2.0', second);
      const ran = await runAgent(['--server', proxy.url, '--dir', dir, '--username', ADMIN_ACCOUNT.username], {
        env: { SVC_PASSWORD: ADMIN_ACCOUNT.password },
      });
      expect(ran.stdout, ran.stderr).to.include('UPDATED: 1.0 -> 2.0\n');
      expect(ran.code).to.equal(0);
      expect(proxy.cuts).to.equal(1);
      const percent = (100 * proxy.received) / (FILES * FILE_BYTES);
      process.stdout.write(`  ${proxy.received} bytes received, ${percent.toFixed(2)} % of the release\n`);
      expect(percent).to.be.below(MAX_PERCENT);
      for (const { path, content } of second)
        expect((await readFile(join(dir, path))).equals(Buffer.from(content)), path).to.equal(true);
      await expectStored(first, second);
    });

    it('stores each content once, and removes it with the last release that lists it', async () => {
      await withdraw('1.0');
      await expectStored(second);
      await withdraw('2.0');
      await expectStored();
    });
  });
