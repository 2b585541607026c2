/** What a start leaves alone: libraries that only some services need are loaded when they are. */
import { expect } from 'chai';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TestService } from '../../support/service.js';

/** Whose it is → the package. */
const LATER = {
  agents: '@modelcontextprotocol/server',
  mail: 'nodemailer',
  'pictures of second factors': 'qrcode',
  'imported passwords': 'hash-wasm',
  'names in minified scripts': 'acorn',
  'logs for people': 'pino-pretty',
  'another store': 'mongodb',
};

describe('start: module loading', function () {
  let seen: string;
  let service: TestService;

  before(async () => {
    seen = await mkdtemp(join(tmpdir(), 'aos-loaded-'));
    service = await TestService.create({ NODE_V8_COVERAGE: seen });
  });
  after(async () => {
    await service.dispose();
    await rm(seen, { recursive: true, force: true });
  });

  it('loads no library before it is needed', async () => {
    await service.start();
    // A page and an answer, so that what these need counts as loaded.
    expect((await fetch(`${service.url}/login`)).status).to.equal(200);
    expect((await service.request('GET', '/api/health/live', null)).status).to.equal(200);
    await service.stop();
    const packages = new Set<string>();
    for (const name of await readdir(seen)) {
      const { result } = JSON.parse(await readFile(join(seen, name), 'utf8')) as { result: { url: string }[] };
      for (const { url } of result) packages.add(/.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? '');
    }
    expect([...packages]).to.include.members(['joi', '@hapi/hapi', 'handlebars']);
    expect(Object.values(LATER).filter((name) => packages.has(name))).to.deep.equal([]);
  });
});
