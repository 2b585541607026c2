/** A status page that one process changes, seen through another on the same MongoDB. */
import { request as httpRequest } from 'node:http';
import { expect } from 'chai';
import { waitUntil } from '../../../harness.js';
import { durableEngines } from '../../../support/durable-engines.js';
import { TestService } from '../../../support/service.js';

const PAGES = '/api/watchdog/v1/status-pages';
const HOST = 'status.example.org';

/** The status and text of a page, asked for by any `Host`. */
const get = (url: string, host?: string): Promise<{ status: number; text: string }> =>
  new Promise((resolve, reject) => {
    httpRequest(url, { ...(host !== undefined && { headers: { host } }) }, (answer) => {
      let text = '';
      answer.on('data', (part: Buffer) => (text += part.toString()));
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }));
    })
      .on('error', reject)
      .end();
  });

describe('status pages in several processes on mongodb', () => {
  let service: TestService;
  let other: TestService;
  before(async function () {
    const settings = await durableEngines.find(({ name }) => name === 'mongodb')?.settings();
    if (!settings) this.skip();
    const all = { ...settings, SVC_STATUSPAGES__HOSTS: JSON.stringify([HOST]) };
    service = await TestService.createInProcess(all);
    other = await TestService.createStarted(all, service.dataDir);
  });
  after(async () => {
    await other?.dispose();
    await service?.dispose();
  });

  it('are up to date in each process', async () => {
    const token = await service.createToken('watchdog:manage,watchdog:ping');
    await service.request('POST', '/api/watchdog/v1/ping', token, { source: 'web-1', interval: 3_600 });
    const page = { slug: 'shop', title: 'Shop', host: HOST, components: [{ name: 'Web shop', sources: ['web-1'] }] };
    expect((await service.request('POST', PAGES, token, page)).status).to.equal(201);
    expect((await service.request('PATCH', `${PAGES}/shop`, token, { published: true })).status).to.equal(200);
    const there = () => get(`${other.url}/status-page/shop`);
    const byHost = () => get(`${other.url}/`, HOST);
    await waitUntil('both are shown', async () => (await there()).status === 200 && (await byHost()).status === 200);
    await service.request('PATCH', `${PAGES}/shop`, token, { title: 'Renamed', host: null });
    await waitUntil('the other process shows it', async () => (await there()).text.includes('Renamed'));
    await waitUntil('the host is nobody’s there', async () => (await byHost()).status !== 200);
  });
});
