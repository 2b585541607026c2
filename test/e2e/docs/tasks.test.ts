/**
 * The tasks of a new user, done with the lines of the guides as they are printed, in a fresh
 * directory. Only placeholders that a guide shows are replaced: addresses, paths, and tokens where
 * it prints an ellipsis.
 */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect } from 'chai';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { SMTPServer } from 'smtp-server';
import { projectRoot } from '../../architecture/tree.js';
import { waitUntil } from '../../harness.js';
import { fillPlaceholders, Guide } from '../../support/guide.js';
import { buildCleanEnv, run } from '../../support/programs.js';
import { isAvailable } from '../../support/requirements.js';
import { TestService } from '../../support/service.js';
import { CACHE } from '../sdks/programs.js';

const ROOT = projectRoot();
const PROGRAMS = {
  aos: 'main.js',
  packager: 'clients/packager/packager.js',
  'update-agent': 'clients/agent/main.js',
};

describe('docs: tasks of a new user', function () {
  this.timeout(300_000);
  let service: TestService;
  let dir: string;
  let mail: SMTPServer;
  const mails: string[] = [];

  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'aos-tasks-'));
    // What `npm install --global` puts into the path.
    await mkdir(join(dir, 'bin'));
    for (const [name, file] of Object.entries(PROGRAMS)) {
      const path = join(dir, 'bin', name);
      await writeFile(path, `#!/bin/sh\nexec '${process.execPath}' '${join(ROOT, 'dist', file)}' "$@"\n`);
      await chmod(path, 0o755);
    }
    await symlink(join(ROOT, 'docs'), join(dir, 'docs'));
    await symlink(join(ROOT, 'node_modules'), join(dir, 'node_modules'));
    mail = new SMTPServer({
      disabledCommands: ['STARTTLS'],
      allowInsecureAuth: true,
      onAuth: ({ username, password }, _session, done) =>
        username === 'aos' && password === 'of the mail server'
          ? done(null, { user: 'aos' })
          : done(new Error('refused')),
      onData: (stream, session, done) => {
        let text = '';
        stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
        stream.on('end', () => {
          mails.push(`${session.envelope.rcptTo.map(({ address }) => address).join()}\n${text}`);
          done();
        });
      },
    });
    await new Promise<void>((resolve) => mail.listen(0, '127.0.0.1', resolve));
    const { port } = mail.server.address() as AddressInfo;
    const guide = await Guide.read('docs/notifications.md');
    const config = join(dir, 'mail.json');
    // The guide names `none` for a server of the own network.
    const values = { 'mail.example.org': '127.0.0.1', '587': String(port), starttls: 'none' };
    await writeFile(config, fillPlaceholders(guide.getBlock('E-mail server', 'json'), values));
    service = await TestService.create({ SVC_CONFIG: config, SVC_NOTIFICATIONS__SMTP_PASSWORD: 'of the mail server' });
    await service.start();
    await service.createProject('shop');
  });
  after(async () => {
    await service?.dispose();
    await new Promise<void>((resolve) => mail.close(() => resolve()));
    await rm(dir, { recursive: true, force: true });
  });

  /** Runs lines in one shell of a user who has set `SVC_URL`. @returns what they printed */
  async function paste(lines: string, more: Record<string, string> = {}): Promise<string> {
    const env = {
      ...service.env,
      ...buildCleanEnv(),
      SVC_DATA_DIR: service.dataDir,
      SVC_URL: service.url,
      HOME: dir,
      PATH: `${join(dir, 'bin')}:${process.env['PATH'] ?? ''}`,
      PYTHONDONTWRITEBYTECODE: '1',
      ...more,
    };
    const { code, stdout, stderr } = await run('bash', ['-c', `set -e -o pipefail\n${lines}`], { env, cwd: dir });
    expect(code, `${lines}\n${stdout}\n${stderr}`).to.equal(0);
    expect(stdout, lines).not.to.include('"status":"error"');
    return stdout;
  }
  /** The token that printed lines create. */
  const tokenBy = async (lines: string): Promise<string> => {
    const name = lines.includes('export SVC_TOKEN=') ? `${lines}\necho "$SVC_TOKEN"` : lines;
    return /\b(?:svc|wd)_live_\w+/.exec(await paste(name))?.[0] ?? '';
  };
  const listTitles = async (): Promise<string[]> => {
    const token = await service.createToken('bugtracker:read', 'shop');
    const { body } = await service.request('GET', '/api/bugtracker/v1/bugs?project=shop', token);
    return (body['items'] as { title: string }[]).map(({ title }) => title);
  };

  describe('reports errors with Sentry SDKs', () => {
    let dsn: string;
    let guide: Guide;

    before(async () => {
      const developers = await Guide.read('docs/developers.md');
      guide = await Guide.read('docs/sentry-sdks.md');
      dsn = /https?:\/\/svc_in_\S+/.exec(await paste(developers.getBlock('Create a key', '')))?.[0] ?? '';
      expect(dsn).to.match(/@127\.0\.0\.1:\d+\/\d+$/);
    });

    it('from Node.js', async () => {
      const lines = guide.getBlock('Node.js', 'js', 'Sentry.init');
      await writeFile(join(dir, 'instrument.mjs'), lines);
      await writeFile(join(dir, 'server.mjs'), `throw new RangeError('no such cart in node');\n`);
      const start = /`(node --import \.\/instrument\.mjs server\.mjs)`/.exec(
        await readFile(join(ROOT, 'docs', 'sentry-sdks.md'), 'utf8'),
      )?.[1];
      await paste(`${start} || true`, { SENTRY_DSN: dsn });
      await waitUntil('the error of Node.js', async () =>
        (await listTitles()).some((title) => title.includes('in node')),
      );
    });

    it('from Python', async function () {
      if (!isAvailable('sdks', existsSync(join(CACHE, 'python')))) this.skip();
      const lines = guide.getBlock('Python', 'python', 'sentry_sdk.init');
      await writeFile(join(dir, 'app.py'), `${lines}\nraise KeyError("no such cart in python")\n`);
      await paste('python3 app.py || true', { SENTRY_DSN: dsn, PYTHONPATH: join(CACHE, 'python') });
      await waitUntil('the error of Python', async () =>
        (await listTitles()).some((title) => title.includes('in python')),
      );
    });
  });

  it('monitors a cron job with a crontab line', async () => {
    const guide = await Guide.read('docs/watchdog.md');
    const token = await tokenBy(guide.getBlock('Send a heartbeat', 'sh', 'aos token create'));
    await paste(guide.getBlock('Send a heartbeat', 'sh', '/api/watchdog/v1/ping'), { SVC_TOKEN: token });
    const line = guide.getBlock('Send a heartbeat', 'sh', '0 3 * * *').trim();
    const [, times, command = ''] = /^((?:\S+ ){5})(.*)$/.exec(line) ?? [];
    expect(times).to.equal('0 3 * * * ');
    expect(command, 'cron cuts a line at a percent sign').not.to.include('%');
    const read = await service.createToken('watchdog:read');
    for (const [ends, state] of [
      ['true', 'up'],
      ['(exit 3)', 'down'],
      ['true', 'up'],
    ] as const) {
      const env = { SVC_URL: service.url, SVC_TOKEN: token, PATH: process.env['PATH'] ?? '' };
      const job = fillPlaceholders(command, { '/usr/local/bin/backup': ends });
      const { code, stderr } = await run('/bin/sh', ['-c', job], { env, cwd: dir });
      expect(code, stderr).to.equal(0);
      const { body } = await service.request('GET', '/api/watchdog/v1/monitors/web-1', read);
      const monitor = (body['monitor'] ?? body) as Record<string, unknown>;
      expect(monitor).to.include({ state, schedule: '0 3 * * *', timezone: 'Europe/Berlin' });
    }
  });

  it('ships a release with packager and agent, and sells a license for it', async () => {
    const [packager, setup, installing, licensing] = await Promise.all(
      ['docs/packager.md', 'docs/setup.md', 'docs/installing.md', 'docs/licensing.md'].map((path) => Guide.read(path)),
    );
    await mkdir(join(dir, 'bin/Release/net8.0/linux-x64/publish'), { recursive: true });
    await writeFile(join(dir, 'bin/Release/net8.0/linux-x64/publish/app.txt'), 'the new version');
    const publish = packager?.getBlock('Packager: from a build to a release', 'sh', 'packager --project shop') ?? '';
    const said = await paste(
      fillPlaceholders(publish, {
        'https://aos.example': service.url,
        'SVC_TOKEN=…': `SVC_TOKEN=${await service.createToken('updateservice:publish', 'shop')}`,
      }),
    );
    expect(said).to.match(/^PUBLISHED: shop 1\.4\.0 \(stable, linux-x64\), signed$/m);

    await paste(setup?.getBlock('Before the first machine', 'sh', 'aos user create') ?? '');
    await writeFile(join(dir, 'installer.password'), 'violet-harbour-lantern\n', { mode: 0o600 });
    const target = join(dir, 'opt', 'shop');
    const install = fillPlaceholders(installing?.getBlock('The application', 'sh', 'SVC_PASSWORD_FILE') ?? '', {
      'https://aos.example.com': service.url,
      '/root/installer.password': join(dir, 'installer.password'),
      '/opt/shop': target,
    });
    await paste(install);
    expect(await readFile(join(target, 'app.txt'), 'utf8')).to.equal('the new version');

    const token = await tokenBy(licensing?.getBlock('Sell a license', 'sh', 'aos token create') ?? '');
    const made = await paste(licensing?.getBlock('Sell a license', 'sh', 'order-1001') ?? '', { SVC_TOKEN: token });
    const { key } = JSON.parse(made) as { key: string };
    const validate = licensing?.getBlock('Validate a license', 'sh', '/validate') ?? '';
    const answer = await paste(validate, { SVC_PRODUCT_KEY: key });
    expect(JSON.parse(answer)).to.include({ status: 'active', valid: true, product: 'shop' });

    const agent = await Guide.read('docs/update-agent-reference.md');
    const update = fillPlaceholders(agent.getBlock('The first update', 'sh'), {
      'https://aos.example.com': service.url,
      '/opt/shop': target,
      'ABCDE-FGHIJ-KLMNO-PQRST-UVWXY': key,
    });
    expect(await paste(update)).to.match(/^UP_TO_DATE:/m);
    await writeFile(join(dir, 'bin/Release/net8.0/linux-x64/publish/app.txt'), 'the next version');
    await paste(
      fillPlaceholders(publish, {
        'https://aos.example': service.url,
        'SVC_TOKEN=…': `SVC_TOKEN=${await service.createToken('updateservice:publish', 'shop')}`,
        '1.4.0': '1.4.1',
      }),
    );
    expect(await paste(update)).to.match(/^UPDATED: 1\.4\.0 -> 1\.4\.1$/m);
    expect(await readFile(join(target, 'app.txt'), 'utf8')).to.equal('the next version');
  });

  it('backs up the running store, and restores it into another data directory', async () => {
    const guide = await Guide.read('docs/backup.md');
    const [backups, restored] = [join(dir, 'backup'), join(dir, 'restored')];
    await mkdir(backups);
    await paste(fillPlaceholders(guide.getBlock('Make a backup', 'sh'), { '/mnt/backup': backups }));
    const lines = guide.getBlock('Restore', 'sh', 'aos restore').split('\n');
    const restore = lines.find((line) => line.includes('aos restore')) ?? '';
    const filled = fillPlaceholders(restore, { '/mnt/backup': backups, '/var/lib/aos': restored });
    expect(await paste(filled)).to.match(/^Restored the store of /m);
    expect(await paste('aos project list', { SVC_DATA_DIR: restored })).to.include('shop');
  });

  it('sends a webhook that its receiver verifies, and an email', async () => {
    const [hooks, signatures, notifications] = await Promise.all(
      ['docs/webhooks.md', 'docs/webhook-signatures.md', 'docs/notifications.md'].map((path) => Guide.read(path)),
    );
    await writeFile(join(dir, 'verify.mjs'), signatures?.getBlock('Node.js', 'js') ?? '');
    const { verify } = (await import(pathToFileURL(join(dir, 'verify.mjs')).href)) as {
      verify(this: void, secret: string, headers: IncomingHttpHeaders, body: Buffer): boolean;
    };
    const arrived: { headers: IncomingHttpHeaders; body: Buffer }[] = [];
    const receiver = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        arrived.push({ headers: request.headers, body: Buffer.concat(chunks) });
        response.writeHead(204).end();
      });
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    try {
      const { port } = receiver.address() as AddressInfo;
      const create = hooks?.getBlock('Create a webhook', 'sh') ?? '';
      const made = await paste(fillPlaceholders(create, { 'https://hooks.example.com': `http://127.0.0.1:${port}` }));
      const secret = /whsec_[\w+/=-]+/.exec(made)?.[0] ?? '';
      await paste(notifications?.getBlock('Notifications', 'sh') ?? '');
      const report = {
        project: 'shop',
        error_level: 'error',
        exception_class: 'CartError',
        error_message: 'for the hook',
      };
      await service.request('POST', '/api/errors/v1/report', await service.createToken('bugtracker:report'), report);
      await waitUntil('the webhook', () => arrived.some(({ body }) => body.includes('for the hook')));
      for (const { headers, body } of arrived) expect(verify(secret, headers, body)).to.equal(true);
      await waitUntil('the mail', () => mails.some((text) => text.startsWith('ops@example.org')));
    } finally {
      receiver.closeAllConnections();
      await new Promise((resolve) => receiver.close(resolve));
    }
  });

  it('connects an agent by HTTP and by MCP', async function () {
    if (!existsSync('/usr/bin/python3')) this.skip();
    const guide = await Guide.read('docs/agents.md');
    const report = {
      project: 'shop',
      error_level: 'error',
      exception_class: 'AgentError',
      error_message: 'for the agent',
    };
    await service.request('POST', '/api/errors/v1/report', await service.createToken('bugtracker:report'), report);
    const token = await tokenBy(guide.getBlock('Connect an agent', ''));
    const next = await paste(guide.getBlock('Work on an issue', '', 'action=next'), { SVC_TOKEN: token });
    expect((JSON.parse(next) as { item: object }).item).to.include({ status: 'in_progress' });
    const session = await paste(
      fillPlaceholders(guide.getBlock('Work on an issue', '', 'agent.py'), {
        'http://127.0.0.1:8080': service.url,
        'svc_live_…': token,
      }),
    );
    expect(session)
      .to.match(/^\d+ tools$/m)
      .and.to.match(/^shop-\d+ is resolved in 1\.4\.2/m);
    expect(session).to.include('no more work');
  });

  it('connects an MCP client with its printed settings', async () => {
    const guide = await Guide.read('docs/agents.md');
    const token = await tokenBy(guide.getBlock('Connect an agent', ''));
    const printed = guide.getBlock('Settings of coding agents', 'json', '"mcpServers"');
    const { mcpServers } = JSON.parse(
      fillPlaceholders(printed, { 'https://aos.example.org': service.url, '${SVC_TOKEN}': token }),
    ) as { mcpServers: Record<'aos', { url: string; headers: Record<string, string> }> };
    const { url, headers } = mcpServers.aos;
    const client = new Client({ name: 'tasks', version: '1.0.0' });
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
    try {
      expect((await client.listTools()).tools.map(({ name }) => name)).to.include.members(['next', 'resolve']);
      const found = await client.callTool({ name: 'search', arguments: { project: 'shop' } });
      expect(found.isError, JSON.stringify(found)).to.not.equal(true);
    } finally {
      await client.close();
    }
  });

  it('groups errors with a rule', async () => {
    const guide = await Guide.read('docs/grouping.md');
    const token = await service.createToken('bugtracker:report,bugtracker:manage', 'shop');
    await paste(guide.getBlock('Grouping rules', 'sh'), { SVC_TOKEN: token });
    const reported = async (file: string, message: string): Promise<unknown> => {
      const report = { project: 'shop', error_level: 'error', exception_class: file, error_message: message, file };
      return (await service.request('POST', '/api/errors/v1/report', token, report)).body['ref'];
    };
    const first = await reported('a.js', 'timeout of payments');
    expect(await reported('b.js', 'timeout of payments after 3 s')).to.equal(first);
    expect(await reported('a.js', 'timeout of stock')).not.to.equal(first);
    expect(await listTitles()).to.include('Timeout of payments');
  });
});
