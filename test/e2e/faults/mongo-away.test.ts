/**
 * The real service on a MongoDB that goes (contract 95, a bad day): each call is answered, with 503
 * while nothing can be stored; it serves again by itself; and a process that cannot be helped ends.
 */
import { expect } from 'chai';
import { once } from 'node:events';
import { waitUntil } from '../../harness.js';
import { durableEngines } from '../../support/durable-engines.js';
import { TestService } from '../../support/service.js';
import { TcpProxy } from '../../support/tcp-proxy.js';

describe('faults: loss of the MongoDB connection', function () {
  let proxy: TcpProxy;
  let service: TestService;
  let token: string;
  before(async function () {
    const settings = await durableEngines.find(({ name }) => name === 'mongodb')?.settings();
    if (!settings) this.skip();
    const url = new URL(settings['SVC_STORAGE_URL'] ?? '');
    proxy = await TcpProxy.startBefore({ host: url.hostname, port: Number(url.port) });
    url.host = `127.0.0.1:${proxy.port}`;
    url.searchParams.set('directConnection', 'true');
    const limits = { SVC_LIMITS__INTAKE_PER_MINUTE: '0', SVC_LIMITS__NEW_GROUPS_PER_HOUR: '0' };
    service = await TestService.createStarted({ ...settings, ...limits, SVC_STORAGE_URL: url.href });
    await service.createProject('shop');
    token = await service.createToken('bugtracker:report,bugtracker:read');
  });
  after(async () => {
    await service?.dispose();
    await proxy?.close();
  });

  const report = (n: number): ReturnType<TestService['request']> =>
    service.request('POST', '/api/errors/v1/report', token, {
      project: 'shop',
      error_level: 'error',
      error_message: 'Boom',
      exception_class: `Class${n}`,
    });

  it('returns 503 with Retry-After while MongoDB is unreachable, reports this in health, and recovers', async () => {
    proxy.rejectConnections();
    await waitUntil('reports are refused', async () => (await report(0)).status === 503);
    expect(Number((await report(0)).headers.get('retry-after'))).to.be.at.least(1);
    expect((await service.request('GET', '/api/health/live', null)).status).to.equal(200);
    const ready = async (): Promise<number> => (await service.request('GET', '/api/health/ready', null)).status;
    await waitUntil('it is not ready', async () => (await ready()) === 503);
    await waitUntil('the log says so', () => linesOf(service, 'MongoDB is unreachable').length > 0);
    proxy.restore();
    await waitUntil('reports are taken', async () => (await report(0)).status === 200);
    await waitUntil('it is ready', async () => (await ready()) === 200);
    expect(linesOf(service, 'MongoDB is unreachable')).to.have.length(1);
  });

  it('exits 1 with a one-line error when MongoDB stays unreachable', async () => {
    const child = service.child ?? expect.fail('it runs');
    proxy.holdData();
    const rejected = report(0).catch(() => null);
    const [code] = (await once(child, 'exit')) as [number | null];
    await rejected;
    expect(code).to.equal(1);
    expect(linesOf(service, 'MongoDB still does not respond')).to.have.length(1);
  });
});

const linesOf = ({ stdout }: TestService, words: string): string[] =>
  stdout.split('\n').filter((line) => line.includes(words));
