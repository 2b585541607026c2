/** The programs of docs/clients.md, run as they stand there against the real service. */
import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { projectRoot } from '../../architecture/tree.js';
import { retryOnMonoCrash } from '../../support/mono-retry.js';
import { buildArchive } from '../../support/release-server.js';
import { TestService } from '../../support/service.js';

const run = promisify(execFile);
const ROOT = projectRoot();
const guide = await readFile(join(ROOT, 'docs', 'clients.md'), 'utf8');
const blocks = (language: string): string[] =>
  [...guide.matchAll(new RegExp('^```' + language + '\\n([\\s\\S]*?)^```', 'gm'))].map(([, code = '']) => code);

describe('docs: guide of the small clients', function () {
  let service: TestService;
  let dir: string;
  let env: NodeJS.ProcessEnv;
  const away = (): NodeJS.ProcessEnv => ({ ...env, SVC_URL: 'http://127.0.0.1:9' });

  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'aos-clients-'));
    service = await TestService.createInProcess();
    await service.createProject('shop');
    const token = await service.createToken('bugtracker:report,watchdog:ping,updateservice:publish,license:manage');
    const license = { product: 'shop', licensee: 'Ada' };
    const made = await service.request('POST', '/api/license/v1/licenses', token, license);
    const pem = (await service.request('GET', '/api/license/v1/pubkey', null)).body['public_key'] as string;
    const url = `${service.url}/api/updateservice/v1/publish?product=shop&version=2.0`;
    const published = await fetch(url, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/gzip',
        'x-release-notes': Buffer.from('Faster.').toString('base64'),
      },
      body: new Uint8Array(buildArchive([{ path: 'app.txt', content: 'two' }])),
    });
    expect(published.status).to.equal(201);
    const key = made.body['key'] as string;
    const file = await fetch(`${service.url}/api/license/v1/file`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ license_key: key, product: 'shop' }),
    });
    await writeFile(join(dir, 'shop.lic'), await file.text());
    env = {
      ...process.env,
      SVC_URL: service.url,
      SVC_TOKEN: token,
      SVC_PRODUCT_KEY: key,
      LICENSE_PUBLIC_KEY: pem,
      PYTHONPATH: join(ROOT, 'clients', 'python'),
      PYTHONDONTWRITEBYTECODE: '1',
    };
  });
  after(async () => {
    await service?.dispose();
    await rm(dir, { recursive: true, force: true });
  });

  it('runs the Python example', async function () {
    if (!existsSync('/usr/bin/python3')) this.skip();
    const [first = '', second = ''] = blocks('python');
    const python = async (code: string, environment: NodeJS.ProcessEnv): Promise<string> =>
      (await run('/usr/bin/python3', ['-c', code], { env: environment, cwd: dir })).stdout;
    expect(await python(first, env)).to.equal(
      'update to 2.0 Faster.\nmonitor is up\nreported: True\nreported: shop-2\n',
    );
    expect(await python(second, env)).to.equal('active True True\n');
    expect(await python(second, away())).to.equal('None False False\n');
    await expectFailure(python(second, { ...away(), LICENSE_PUBLIC_KEY: await anotherKey() }));
  });

  it('runs the C# example', async function () {
    if (!existsSync('/usr/bin/mcs')) this.skip();
    const programs = await Promise.all(
      blocks('csharp').map(async (code, i) => {
        const path = join(dir, `Program${i}`);
        await writeFile(`${path}.cs`, code);
        const sources = [`${path}.cs`, join(ROOT, 'clients', 'csharp', 'AosClient.cs')];
        const compile = ['-warnaserror', '-r:System.Numerics', `-out:${path}.exe`, ...sources];
        await retryOnMonoCrash(() => run('mcs', compile));
        return `${path}.exe`;
      }),
    );
    const mono = async (program = '', environment = env): Promise<string> =>
      (await retryOnMonoCrash(() => run('mono', [program], { env: environment, cwd: dir }))).stdout;
    expect(await mono(programs[0])).to.equal('update to 2.0 Faster.\nmonitor is up\nreported: True\n');
    expect(await mono(programs[1])).to.equal('active True True\n');
    expect(await mono(programs[1], away())).to.equal(' False False\n');
    await expectFailure(mono(programs[1], { ...away(), LICENSE_PUBLIC_KEY: await anotherKey() }));
  });

  async function anotherKey(): Promise<string> {
    const path = join(ROOT, 'test', 'fixtures', 'vectors', 'license-files.json');
    return (JSON.parse(await readFile(path, 'utf8')) as { public_key: string }[])[2]?.public_key ?? '';
  }
  async function expectFailure(running: Promise<unknown>): Promise<void> {
    const failed = await running.then(
      () => null,
      (error: unknown) => error,
    );
    expect(failed).to.include({ code: 1 });
  }
});
