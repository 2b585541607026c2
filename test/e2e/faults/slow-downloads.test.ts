/**
 * Callers without a credential that start downloads from twenty addresses and read one piece of
 * each: they never keep others from the files, nor cut a download on a thin line that goes on
 * (contract 00, limits).
 */
import { expect } from 'chai';
import { createHash, randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { join } from 'node:path';
import { buildArchive } from '../../support/release-server.js';
import { TestService } from '../../support/service.js';
import { Attack } from './attack.js';

const MIB = 1024 * 1024;
const PACKAGE = '/releases/large/stable/2.0/any/package.tar.gz';
/** A quarter of all places of streams is for strangers. */
const READERS = 400;

describe('faults: slow downloads', function () {
  let service: TestService;
  const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
  const archive = buildArchive([{ path: 'noise', content: randomBytes(8 * MIB).toString('hex') }]);
  before(async () => {
    service = await TestService.createStarted({ SVC_LIMITS__PUBLIC_PER_MINUTE: '0' });
    await service.createProject('large');
    const token = await service.createToken('updateservice:publish');
    const published = await fetch(`${service.url}/api/updateservice/v1/publish?product=large&version=2.0`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/gzip' },
      body: new Uint8Array(archive),
    });
    expect(published.status, await published.text()).to.equal(201);
    // A product that is for everybody.
    await rm(join(service.dataDir, 'releases', 'large', '.htaccess'));
  });
  after(() => service?.dispose());

  async function download(localAddress: string): Promise<IncomingMessage> {
    const [answer] = (await once(get(service.url + PACKAGE, { localAddress, agent: false }), 'response')) as [
      IncomingMessage,
    ];
    return answer;
  }
  async function whole(localAddress: string): Promise<[status: number | undefined, sha256: string]> {
    const answer = await download(localAddress);
    const hash = createHash('sha256');
    for await (const piece of answer) hash.update(piece as Buffer);
    return [answer.statusCode, hash.digest('hex')];
  }

  it(`drops ${READERS} clients that read nothing in favor of active readers, and keeps slow connections`, async () => {
    const right = [200, sha256(archive)];
    const thin = await download('127.0.0.2');
    const taken: Buffer[] = [];
    const pieces = thin[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    const requested = [`GET ${PACKAGE} HTTP/1.1\r\nHost: aos\r\n\r\n`];
    const attack = await Attack.open({
      count: READERS,
      writes: [requested],
      unread: true,
      port: Number(new URL(service.url).port),
    });
    for (let i = 0; i < 10; i++) {
      const { done, value } = await pieces.next();
      if (done !== true) taken.push(value);
      expect(await whole(`127.0.0.${i % 2 === 0 ? 1 : 3}`), `download ${i}`).to.deep.equal(right);
    }
    for (let next = await pieces.next(); next.done !== true; next = await pieces.next()) taken.push(next.value);
    expect([thin.statusCode, sha256(Buffer.concat(taken))]).to.deep.equal(right);
    await attack.close();
  });
});
