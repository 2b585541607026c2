/** The programs of docs/licensing.md, run as they stand there against the real service. */
import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { waitUntil } from '../../harness.js';
import { verifyLicenseFile } from '../../../lib/formats/license-file.js';
import { buildPackage } from '../../kit/contracts/release-store.js';
import { projectRoot } from '../../architecture/tree.js';
import { retryOnMonoCrash } from '../../support/mono-retry.js';
import { TestService } from '../../support/service.js';

const run = promisify(execFile);
const ROOT = projectRoot();
const BYTES = buildPackage({ 'a.txt': 'what is inside' });
const pages = ['licensing.md', 'offline-licenses.md', 'license-approvals.md'];
const guide = (await Promise.all(pages.map((name) => readFile(join(ROOT, 'docs', name), 'utf8')))).join('\n');
const blocks = (language: string): string[] =>
  [...guide.matchAll(new RegExp('^```' + language + '\\n([\\s\\S]*?)^```', 'gm'))].map(([, code = '']) => code);
const block = (language: string, holds: string): string => blocks(language).find((code) => code.includes(holds)) ?? '';

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

describe('docs: licensing guide', function () {
  let service: TestService;
  let env: NodeJS.ProcessEnv;
  let token: string;

  before(async () => {
    service = await TestService.createInProcess();
    await service.createProject('shop');
    token = await service.createToken('license:manage', 'shop');
    env = { ...process.env, SVC_URL: service.url, SVC_TOKEN: token };
    const { stdout } = await run('sh', ['-c', block('sh', 'order-1001')], { env });
    const { key } = JSON.parse(stdout) as { key: string };
    expect(key).to.match(/^.{5}(-.{5}){4}$/);
    env['SVC_PRODUCT_KEY'] = key;
  });
  after(() => service?.dispose());

  it('runs the Node example', async () => {
    const code = block('js', '/validate');
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', code], { env });
    expect(stdout.trim()).to.equal('active');
  });

  it('runs the Python example', async function () {
    if (!existsSync('/usr/bin/python3')) this.skip();
    const { stdout } = await run('/usr/bin/python3', ['-c', block('python', '/validate')], { env });
    expect(stdout.trim()).to.equal('active');
  });

  it('runs the C# example', async function () {
    if (!existsSync('/usr/bin/mcs')) this.skip();
    const dir = await mkdtemp(join(tmpdir(), 'aos-docs-'));
    try {
      await writeFile(join(dir, 'Program.cs'), block('csharp', 'ValidateLicense'));
      const sources = [join(dir, 'Program.cs'), join(ROOT, 'clients', 'csharp', 'AosClient.cs')];
      const program = join(dir, 'program.exe');
      await retryOnMonoCrash(() => run('mcs', ['-r:System.Numerics', `-out:${program}`, ...sources]));
      expect((await retryOnMonoCrash(() => run('mono', [program], { env }))).stdout.trim()).to.equal('active');
    } finally {
      await rm(dir, { recursive: true });
    }
  });

  it('downloads with a license key by the printed command', async () => {
    const publish = await service.createToken('updateservice:publish', 'shop');
    const place = 'product=shop&channel=stable&version=1.4.1&platform=any';
    const { status } = await fetch(`${service.url}/api/updateservice/v1/publish?${place}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${publish}`, 'content-type': 'application/gzip' },
      body: BYTES,
    });
    expect(status).to.equal(201);
    const dir = await mkdtemp(join(tmpdir(), 'aos-docs-'));
    try {
      await waitUntil('the key opens the store', () =>
        run('sh', ['-c', block('sh', 'lic_')], { env, cwd: dir }).then(
          () => true,
          () => false,
        ),
      );
      expect(await readFile(join(dir, 'package.tar.gz'))).to.deep.equal(BYTES);
    } finally {
      await rm(dir, { recursive: true });
    }
  });

  it('runs the shell example', async () => {
    const { stdout } = await run('sh', ['-c', block('sh', '/validate')], { env });
    expect(JSON.parse(stdout)).to.include({ status: 'active' });
  });

  it('downloads a license file by the printed command', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'aos-docs-'));
    try {
      await run('sh', ['-c', block('sh', '/v1/file')], { env, cwd: dir });
      const pem = await (await fetch(`${service.url}/api/license/v1/pubkey?format=pem`)).text();
      const text = await readFile(join(dir, 'shop.lic'), 'utf8');
      const checks = { product: 'shop', machineId: 'web-1', now: Date.now() };
      expect(verifyLicenseFile(text, pem, checks)).to.include({ valid: true });
    } finally {
      await rm(dir, { recursive: true });
    }
  });

  it('handles duplicate and late webhooks of a payment provider in the example receiver', async () => {
    const port = await freePort();
    const code = block('js', 'paid_until').replace('8090', String(port));
    const child = spawn(process.execPath, ['--input-type=module', '-e', code], { env, stdio: 'ignore' });
    const pay = async (paid_until: string): Promise<number> => {
      const body = JSON.stringify({ order: 'order-7', email: 'grace@example.org', paid_until });
      return (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body })).status;
    };
    try {
      await waitUntil('the receiver', async () =>
        pay('2027-01-31T00:00:00Z').then(
          (status) => status === 204,
          () => false,
        ),
      );
      for (const end of ['2027-02-28T00:00:00Z', '2027-01-31T00:00:00Z', '2027-02-28T00:00:00Z'])
        expect(await pay(end)).to.equal(204);
      const { body } = await service.request('GET', '/api/license/v1/licenses?client_ref=order-7', token);
      const items = body['items'] as { expires_at: string }[];
      expect(items.map(({ expires_at }) => expires_at)).to.deep.equal(['2027-02-28T00:00:00.000Z']);
    } finally {
      child.kill('SIGKILL');
    }
  });
});
