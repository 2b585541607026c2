/** The installers, by the real program and real shells (contract 60, installer). */
import { createHash } from 'node:crypto';
import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer, get, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompressSync, brotliDecompressSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { parseAcceptedEncodings } from '../../../../plugins/setup/installer/routes.js';
import { renderInstallPs1 } from '../../../../plugins/setup/installer/install-ps1.js';
import { renderInstallSh, NOT_BUILT_MESSAGE } from '../../../../plugins/setup/installer/install-sh.js';
import { TestService } from '../../../support/service.js';

const run = promisify(execFile);
const AGENT = `#!/bin/sh\necho "I am the agent"\n# ${'padding '.repeat(20_000)}\n`;
const NAME = 'update-agent-linux-x64';
const TOOLS = [
  'awk',
  'basename',
  'cat',
  'chmod',
  'cut',
  'dirname',
  'id',
  'mkdir',
  'mktemp',
  'mv',
  'rm',
  'sha256sum',
  'uname',
];

const has = async (program: string): Promise<string | null> =>
  run('sh', ['-c', `command -v ${program}`]).then(
    ({ stdout }) => stdout.trim(),
    () => null,
  );

interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

const ran = (command: string, args: string[], env: NodeJS.ProcessEnv): Promise<Ran> =>
  run(command, args, { env }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error: unknown) => error as Ran,
  );

interface Got {
  status: number;
  headers: IncomingMessage['headers'];
  body: Buffer;
}

/** As it comes over the wire: `fetch` would unpack it. */
const wire = (url: string, headers: Record<string, string> = {}): Promise<Got> =>
  new Promise((resolve, reject) => {
    get(url, { headers }, (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(pieces) }),
      );
      response.on('error', reject);
    }).on('error', reject);
  });

describe('setup: installers', function () {
  let service: TestService;
  let proxy: Server;
  /** Bytes of the agent after which the proxy cuts the connection; null: it does not. */
  let cutAfter: number | null = null;
  /** How many questions for an agent the proxy answers as a service that is still placing it. */
  let notReady = 0;
  /** What agents were sent as, by the proxy: their `Content-Encoding`. */
  let sentAs: (string | undefined)[] = [];
  let public_url: string;
  let dir: string;

  before(async () => {
    proxy = createServer((request, response) => {
      if (request.url?.includes('update-agent') === true && notReady-- > 0) {
        response.writeHead(503, { 'retry-after': '5' }).end('{}');
        return;
      }
      get(`${service.url}${request.url}`, { headers: request.headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        if (request.url?.includes('update-agent') === true) sentAs.push(answer.headers['content-encoding']);
        let sent = 0;
        answer.on('data', (piece: Buffer) => {
          const cut = request.url?.includes('update-agent') === true ? cutAfter : null;
          if (cut !== null && sent + piece.length > cut)
            response.write(piece.subarray(0, cut - sent), () => response.destroy());
          else response.write(piece);
          sent += piece.length;
        });
        answer.on('end', () => response.end());
      });
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    public_url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    service = await TestService.createInProcess({ SVC_BASE_URL: public_url });
  });

  after(async () => {
    proxy.closeAllConnections();
    proxy.close();
    await service.dispose();
  });

  beforeEach(async () => {
    cutAfter = null;
    notReady = 0;
    sentAs = [];
    dir = await mkdtemp(join(tmpdir(), 'aos-install-'));
  });

  afterEach(() => rm(dir, { recursive: true }));

  const offer = async (agent = AGENT): Promise<void> => {
    const folder = join(service.dataDir, 'installer');
    await mkdir(folder, { recursive: true });
    const bytes = Buffer.from(agent);
    await writeFile(join(folder, NAME), bytes);
    await writeFile(join(folder, `${NAME}.br`), brotliCompressSync(bytes));
    await writeFile(join(folder, `${NAME}.gz`), gzipSync(bytes));
    const sha256 = createHash('sha256').update(AGENT).digest('hex');
    const files = [
      { name: NAME, runtime: 'linux-x64', kind: 'agent', size: AGENT.length, sha256 },
      { name: 'update-agent-linux-arm64', runtime: 'linux-arm64', kind: 'agent', size: 1, sha256: 'a'.repeat(64) },
      { name: 'update-agent-win-x64.exe', runtime: 'win-x64', kind: 'agent', size: 1, sha256: 'b'.repeat(64) },
    ];
    const manifest = { schema: 1, version: '1.0.0', generated_at: '2026-11-20T08:00:00.000Z', files };
    await writeFile(join(folder, 'installer.json'), JSON.stringify(manifest));
  };

  /** A PATH with what the script may rely on, and one program that downloads. */
  const pathWith = async (downloader: string): Promise<string> => {
    const bin = join(dir, 'bin');
    await mkdir(bin);
    for (const tool of [...TOOLS, downloader]) {
      const at = await has(tool);
      if (at !== null) await symlink(at, join(bin, tool));
    }
    return bin;
  };

  const script = async (): Promise<string> => {
    const path = join(dir, 'install.sh');
    await writeFile(path, (await wire(`${service.url}/installer/install.sh`)).body);
    return path;
  };

  it('names the build command when agents are missing: 404 for files, exit 1 for both scripts', async () => {
    for (const name of ['installer.json', NAME, 'update-agent-win-x64.exe']) {
      const { status, body } = await wire(`${service.url}/installer/${name}`);
      expect(status, name).to.equal(404);
      expect(JSON.parse(body.toString())).to.nested.include({ 'error.code': 'not_found' });
      expect(body.toString()).to.include('npm run build:agent');
    }
    const shell = await ran('sh', [await script()], { ...process.env, UPDATE_AGENT_DIR: dir });
    expect(shell).to.include({ code: 1 });
    expect(shell.stderr).to.include('npm run build:agent');
    const windows = await wire(`${service.url}/installer/install.ps1`);
    expect(windows.body.toString()).to.include(NOT_BUILT_MESSAGE).and.to.include('exit 1');
  });

  it('serves the complete agent, by range, and compressed as the client accepts', async () => {
    await offer();
    const url = `${service.url}/installer/${NAME}`;
    const whole = await wire(url);
    expect(whole.status).to.equal(200);
    expect(whole.body.toString()).to.equal(AGENT);
    expect(whole.headers).to.include({ 'content-type': 'application/octet-stream', vary: 'accept-encoding' });
    const br = await wire(url, { 'accept-encoding': 'gzip, br' });
    expect(br.headers['content-encoding']).to.equal('br');
    expect(brotliDecompressSync(br.body).toString()).to.equal(AGENT);
    expect(br.body.length).to.be.below(AGENT.length / 10);
    expect(br.headers.etag).not.to.equal(whole.headers.etag);
    expect((await wire(url, { 'accept-encoding': 'gzip' })).headers['content-encoding']).to.equal('gzip');
    const part = await wire(url, { range: 'bytes=2-5' });
    expect([part.status, part.body.toString()]).to.deep.equal([206, AGENT.slice(2, 6)]);
    expect((await wire(url, { 'if-none-match': whole.headers.etag ?? '' })).status).to.equal(304);
    const manifest = JSON.parse((await wire(`${service.url}/installer/installer.json`)).body.toString()) as {
      files: object[];
    };
    expect(manifest).to.include({ schema: 1, version: '1.0.0' });
    expect(manifest.files).to.have.length(3);
    for (const name of ['.placed.json', '..%2fserver.json', 'other'])
      expect((await wire(`${service.url}/installer/${name}`)).status, name).to.equal(404);
  });

  for (const shell of ['dash', 'bash', 'busybox sh']) {
    for (const downloader of ['curl', 'wget']) {
      it(`installs with ${shell} and ${downloader}, also over an old agent, and configures nothing else`, async function () {
        const [program = '', ...first] = shell.split(' ');
        const at = await has(program);
        if (at === null || (await has(downloader)) === null) this.skip();
        await offer();
        const target = join(dir, 'a target');
        const env = { PATH: await pathWith(downloader), HOME: dir, UPDATE_AGENT_DIR: target };
        const file = await script();
        for (const round of [1, 2]) {
          const { code, stdout, stderr } = await ran(at, [...first, file], env);
          expect({ code, stderr }, `round ${round}`).to.deep.equal({ code: 0, stderr: '' });
          expect(stdout).to.include(`Installed ${target}/update-agent`);
          expect(await readFile(join(target, 'update-agent'), 'utf8')).to.equal(AGENT);
          expect((await stat(join(target, 'update-agent'))).mode & 0o777).to.equal(0o755);
          expect(await readdir(target)).to.deep.equal(['update-agent']);
        }
        expect((await readdir(dir)).toSorted()).to.deep.equal(['a target', 'bin', 'install.sh']);
        expect((await ran(join(target, 'update-agent'), [], process.env)).stdout).to.equal('I am the agent\n');
      });
    }
  }

  for (const downloader of ['curl', 'wget', 'busybox wget']) {
    it(`waits with ${downloader} for a server that is building its agents, and downloads compressed`, async function () {
      const [program = '', applet] = downloader.split(' ');
      const at = await has(program);
      if (at === null || (await has('gunzip')) === null) this.skip();
      await offer();
      notReady = 2;
      const bin = await pathWith(applet === undefined ? program : 'true');
      for (const tool of ['gunzip', 'gzip', 'sh']) await symlink((await has(tool)) ?? '', join(bin, tool));
      if (applet !== undefined) await symlink(at, join(bin, applet));
      await writeFile(join(bin, 'sleep'), '#!/bin/sh\n', { mode: 0o755 });
      const env = { PATH: bin, HOME: dir, UPDATE_AGENT_DIR: join(dir, 'target') };
      const { code, stdout, stderr } = await ran((await has('dash')) ?? '/bin/sh', [await script()], env);
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
      expect(stdout.match(/still preparing its update agents/g)).to.have.length(1);
      expect(await readFile(join(dir, 'target', 'update-agent'), 'utf8')).to.equal(AGENT);
      expect(await readdir(join(dir, 'target'))).to.deep.equal(['update-agent']);
      expect(sentAs).to.have.length(1);
      expect(sentAs[0]).to.be.oneOf(['br', 'gzip']);
    });
  }

  it('installs to ~/.local/bin for a user, and to /usr/local/bin for root', async () => {
    await offer();
    const text = renderInstallSh({ url: 'http://x', files: [] });
    expect(text).to.include('target=/usr/local/bin').and.to.include('target=$HOME/.local/bin');
    const bin = await pathWith('curl');
    await rm(join(bin, 'id'));
    await writeFile(join(bin, 'id'), '#!/bin/sh\necho 1000\n');
    await chmod(join(bin, 'id'), 0o755);
    const { code } = await ran('/bin/sh', [await script()], { PATH: bin, HOME: dir });
    expect(code).to.equal(0);
    expect(await readFile(join(dir, '.local/bin/update-agent'), 'utf8')).to.equal(AGENT);
  });

  it('retains the old agent after a wrong checksum, a truncated download or an unreachable server', async () => {
    await writeFile(join(dir, 'update-agent'), 'the old one');
    const env = { ...process.env, UPDATE_AGENT_DIR: dir };
    const faults: [string, () => Promise<void>, RegExp][] = [
      [
        'checksum',
        () => offer(`${AGENT} `),
        /checksum of update-agent-linux-x64 is wrong: got [0-9a-f]{64}, expected [0-9a-f]{64}/,
      ],
      [
        'cut',
        async () => {
          await offer();
          cutAfter = 20;
        },
        /download of .* failed; nothing was changed/,
      ],
    ];
    for (const [what, plant, message] of faults) {
      await plant();
      const { code, stderr } = await ran('sh', [await script()], env);
      expect(code, what).to.equal(1);
      expect(stderr, what).to.match(message);
      expect(await readFile(join(dir, 'update-agent'), 'utf8'), what).to.equal('the old one');
      expect((await readdir(dir)).toSorted(), what).to.deep.equal(['install.sh', 'update-agent']);
    }
  });

  it('does nothing when the script is truncated before its last line', async () => {
    await offer();
    const whole = await readFile(await script(), 'utf8');
    const last = whole.lastIndexOf('main');
    const env = { ...process.env, UPDATE_AGENT_DIR: join(dir, 'target') };
    for (let step = 1; step <= 40; step++) {
      const cut = Math.floor((last * step) / 40);
      await writeFile(join(dir, 'cut.sh'), whole.slice(0, cut));
      await ran('sh', [join(dir, 'cut.sh')], env);
      expect((await readdir(dir)).toSorted(), `${cut} characters`).to.deep.equal(['cut.sh', 'install.sh']);
    }
  });

  it('reports an unsupported CPU, an unsupported system, and an unwritable target', async () => {
    await offer();
    const bin = await pathWith('curl');
    const uname = async (system: string, machine: string): Promise<void> => {
      await rm(join(bin, 'uname'));
      await writeFile(join(bin, 'uname'), `#!/bin/sh\n[ "$1" = -s ] && echo ${system} || echo ${machine}\n`);
      await chmod(join(bin, 'uname'), 0o755);
    };
    const install = async (target: string): Promise<Ran> =>
      ran('/bin/sh', [await script()], { PATH: bin, HOME: dir, UPDATE_AGENT_DIR: target });
    expect((await install('/proc/nowhere')).stderr).to.match(
      /cannot create \/proc\/nowhere; set another directory with UPDATE_AGENT_DIR/,
    );
    await uname('Linux', 'riscv64');
    expect(await install(dir)).to.deep.include({
      code: 1,
      stderr: 'install.sh: there is no update agent for riscv64; there is one for x86_64 and aarch64\n',
    });
    await uname('Darwin', 'arm64');
    expect((await install(dir)).stderr).to.include('there is no update agent for Darwin');
  });

  it('rejects musl with a clear message, in a root directory without glibc', async function () {
    const busybox = await has('busybox');
    if (busybox === null || process.getuid?.() !== 0) this.skip();
    const linked = await ran('sh', ['-c', `ldd ${busybox}`], process.env);
    if (linked.code === 0) this.skip();
    await offer();
    const root = join(dir, 'root');
    await mkdir(join(root, 'lib'), { recursive: true });
    await mkdir(join(root, 'bin'));
    await writeFile(join(root, 'lib', 'ld-musl-x86_64.so.1'), '');
    await writeFile(join(root, 'bin', 'busybox'), await readFile(busybox));
    await chmod(join(root, 'bin', 'busybox'), 0o755);
    for (const applet of ['sh', 'uname', 'id']) await symlink('busybox', join(root, 'bin', applet));
    await writeFile(join(root, 'install.sh'), await readFile(await script()));
    const { code, stderr } = await ran('chroot', [root, '/bin/sh', '/install.sh'], {
      PATH: '/bin:/usr/sbin:/sbin:/usr/bin',
    });
    expect(code).to.equal(1);
    expect(stderr).to.include('musl');
  });

  it('quotes values for sh and PowerShell', () => {
    const file = { runtime: 'linux-x64', kind: 'agent', size: 1, sha256: 'a'.repeat(64), name: NAME };
    const url = "https://x/'; touch /tmp/owned; '$(id)`id`";
    expect(renderInstallSh({ url, files: [file] })).to.include(
      `server='https://x/'\\''; touch /tmp/owned; '\\''$(id)\`id\`'`,
    );
    const windows = renderInstallPs1({ url, files: [{ ...file, runtime: 'win-x64' }] });
    expect(windows).to.include("$server = 'https://x/''; touch /tmp/owned; ''$(id)`id`'");
    expect(
      windows
        .split('\n')
        .slice(0, -1)
        .every((line) => line.endsWith('\r')),
    ).to.equal(true);
  });

  it('sends the compressed form with a non-zero weight in Accept-Encoding', () => {
    const cases: [string | undefined, string[]][] = [
      [undefined, []],
      ['', []],
      ['gzip, deflate, br', ['br', 'gzip']],
      ['br;q=0, gzip;q=0.5', ['gzip']],
      ['*', ['br', 'gzip']],
      ['identity, *;q=0', []],
      ['gzip;q=x', []],
    ];
    for (const [header, encodings] of cases) expect(parseAcceptedEncodings(header), header).to.deep.equal(encodings);
  });
});
