/**
 * What the agent sends and takes on the way (contract 90, what it sends; update: Range,
 * credentials, exit 2 and 8).
 */
import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { createServer, request as httpRequest, type Server, type ServerResponse } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { waitUntil } from '../../../harness.js';
import { createKeys, ReleaseServer, sha256, type TestRelease } from '../../../support/release-server.js';
import { certificates } from '../../plugins/probes/certificates.js';
import { install, remove, runAgent, runHere, scratch, type Ran } from './agent.js';

const keys = createKeys();
const LICENSE = 'ABCDE-FGHIJ-KLMNO-PQRST-UVWXY';
const basic = (name: string, password: string): string =>
  `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;

describe('update-agent: network', function () {
  let server: ReleaseServer;
  let other: ReleaseServer;
  let dir: string;
  let release: TestRelease;
  const go = (args: string[] = [], env: Record<string, string> = {}): Promise<Ran> =>
    runHere(['--server', server.url, '--dir', dir, ...args], env);
  const packages = (of: ReleaseServer): { line: string; headers: Record<string, unknown> }[] =>
    of.asked.filter(({ line }) => line.includes('/package.tar.gz'));

  beforeEach(async () => {
    server = new ReleaseServer(keys);
    other = new ReleaseServer(keys);
    await server.start();
    await other.start();
    dir = await scratch();
    await install(dir, server.publish({ version: '1.0.0', files: [{ path: 'a', content: '1' }] }));
    const input = { version: '1.1.0', files: [{ path: 'a', content: randomBytes(300_000) }] };
    release = server.publish(input);
    other.releases.push(release);
  });
  afterEach(async () => {
    await server.stop();
    await other.stop();
    await remove(dir);
  });

  describe('resume', () => {
    const part = (): string => join(dir, '.update-agent', 'download', sha256(release.archive));
    /** Ends the connection when the agent has stored some bytes of the package. */
    const breakOff = (response: ServerResponse): void => {
      response.write(release.archive.subarray(0, 150_000));
      const isStored = async (): Promise<boolean> => (await stat(part()).catch(() => ({ size: 0 }))).size > 0;
      void waitUntil('some bytes are stored', isStored).finally(() => response.destroy());
    };
    const before = async (bytes: Buffer): Promise<void> => {
      await mkdir(join(dir, '.update-agent', 'download'), { recursive: true });
      await writeFile(part(), bytes);
    };

    it('resumes an earlier download with Range', async () => {
      await before(release.archive.subarray(0, 100_000));
      expect((await go()).code).to.equal(0);
      expect(packages(server).map(({ headers }) => headers.range)).to.deep.equal(['bytes=100000-']);
    });

    it('restarts when the earlier bytes belong to another package', async () => {
      await before(Buffer.alloc(100_000));
      expect((await go()).code).to.equal(0);
      expect(packages(server).map(({ headers }) => headers.range)).to.deep.equal(['bytes=100000-', undefined]);
    });

    it('continues after a broken connection', async () => {
      let broken = 0;
      server.lies.request = (request, response) => {
        if (!request.url?.startsWith('/releases/') || broken++ > 0) return false;
        response.writeHead(200, { 'content-length': release.archive.length });
        breakOff(response);
        return true;
      };
      expect((await go()).code).to.equal(0);
      expect(packages(server)[1]?.headers.range).to.match(/^bytes=[1-9]\d*-$/);
    });

    it('retains received bytes for the next run', async () => {
      server.lies.request = (request, response) => {
        if (!request.url?.startsWith('/releases/')) return false;
        response.writeHead(200, { 'content-length': release.archive.length });
        breakOff(response);
        return true;
      };
      expect((await go()).code).to.equal(8);
      expect((await readFile(part())).length).to.be.greaterThan(0);
    });

    it('deletes partial files of other releases', async () => {
      await before(Buffer.alloc(10));
      await writeFile(join(dir, '.update-agent', 'download', sha256('other')), 'x');
      expect((await go()).code).to.equal(0);
    });
  });

  it('repeats check when the package has changed, and then uses the new response', async () => {
    let requested = 0;
    server.lies.request = (request) => {
      if (request.url?.startsWith('/releases/') && requested++ === 0) {
        release = server.publish({ version: '1.1.0', files: [{ path: 'a', content: 'published anew' }] });
      }
      return false;
    };
    const ran = await go();
    expect(ran.stdout + ran.stderr).to.match(/UPDATED: 1\.0\.0 -> 1\.1\.0/);
    expect(await readFile(join(dir, 'a'), 'utf8')).to.equal('published anew');
    expect(server.asked.filter(({ line }) => line.includes('/check'))).to.have.length(2);
  });

  describe('credentials', () => {
    const license = basic(`lic_${sha256(LICENSE).slice(0, 16)}`, LICENSE);

    it('send a license key from the option or SVC_PRODUCT_KEY in canonical form', async () => {
      server.allowed = [license];
      expect((await go()).stdout).to.match(/^UNAUTHORIZED: the release store requires credentials/);
      expect((await go(['--license-key', LICENSE.toLowerCase()])).code).to.equal(0);
    });

    it('include SVC_PRODUCT_KEY and its file', async () => {
      server.allowed = [license];
      const path = join(dir, 'key');
      await writeFile(path, `${LICENSE}\n`);
      expect((await go([], { SVC_PRODUCT_KEY: 'AAAAA-BBBBB' })).code).to.equal(2);
      expect((await go([], { SVC_PRODUCT_KEY_FILE: path })).code).to.equal(0);
    });

    it('include an account, with the password from the environment or a file', async () => {
      server.allowed = [basic('kim', 'secret: ü')];
      const path = join(dir, 'password');
      await writeFile(path, 'secret: ü\n');
      expect((await go(['--username', 'kim'], { SVC_PASSWORD_FILE: path })).code).to.equal(0);
    });

    it('exit 2 with output that starts with UNAUTHORIZED, with account and roles, and without a retry', async () => {
      server.allowed = [];
      server.lies.freshness = () => ({ status: 'success' });
      const ran = await go(['--username', 'kim', '--license-key', LICENSE], { SVC_PASSWORD: 'wrong' });
      expect(ran.code).to.equal(2);
      expect(ran.stdout).to.match(/^UNAUTHORIZED: access was denied for account kim.*admin, installer, member/);
      expect(ran.stdout).to.match(/\nWARNING: /);
      expect(packages(server)).to.have.length(1);
    });

    it('are never sent below /api/', async () => {
      await go(['--license-key', LICENSE]);
      const below = server.asked.filter(({ line }) => line.includes('/api/'));
      expect(below.length).to.be.greaterThan(2);
      expect(below.every(({ headers }) => headers.authorization === undefined)).to.equal(true);
    });

    it('accept no password in argv, and require a password source without a terminal', async () => {
      expect((await go(['--password', 'x'])).code).to.equal(64);
      expect((await runAgent(['--server', server.url, '--dir', dir, '--username', 'kim'])).code).to.equal(64);
    });
  });

  describe('redirects', () => {
    const redirect = (from: ReleaseServer, to: (n: number) => string, prefix = '/releases/'): void => {
      let n = 0;
      from.lies.request = (request, response) => {
        if (!request.url?.startsWith(prefix)) return false;
        response.writeHead(302, { location: to(n++) }).end();
        return true;
      };
    };

    it('of a package are followed, without the credentials on another host', async () => {
      redirect(server, () => `${other.url}${release.url}`);
      expect((await go(['--license-key', LICENSE])).code).to.equal(0);
      expect(packages(server)[0]?.headers.authorization).to.be.a('string');
      expect(packages(other)[0]?.headers.authorization).to.equal(undefined);
    });

    it('of a package are followed five times at most', async () => {
      redirect(server, (n) => `${server.url}/releases/${n}/package.tar.gz`);
      const ran = await go();
      expect(ran.code).to.equal(1);
      expect(ran.stderr).to.include('more than 5 times');
      expect(packages(server)).to.have.length(6);
    });

    it('below /api/ are not followed', async () => {
      redirect(server, () => `${other.url}/api/updateservice/v1/pubkey`, '/api/');
      const ran = await go();
      expect(ran.code).to.equal(1);
      expect(ran.stderr).to.include('redirects are not followed');
      expect(other.asked).to.deep.equal([]);
    });

    it('to http on another host require --allow-http, and to other protocols are rejected', async () => {
      for (const to of [
        'http://192.0.2.1/package.tar.gz',
        'ftp://127.0.0.1/x',
        'file:///etc/passwd',
        'http://a:b@127.0.0.1/',
      ]) {
        redirect(server, () => to);
        expect((await go()).code, to).to.equal(1);
      }
    });

    it('from https to http are rejected', async () => {
      const folder = await scratch();
      const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
      const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
      execFileSync(
        'openssl',
        ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', cert, '-days', '2', ...subject],
        { stdio: 'ignore' },
      );
      const secure = new ReleaseServer(keys);
      await secure.start({ key: await readFile(key, 'utf8'), cert: await readFile(cert, 'utf8') });
      secure.releases.push(...server.releases);
      redirect(secure, () => `${other.url}${release.url}`);
      const args = ['--server', secure.url, '--dir', dir];
      // The certificate is not trusted, whatever that variable says.
      const untrusted = await runAgent(args, { env: { NODE_TLS_REJECT_UNAUTHORIZED: '0' } });
      expect(untrusted.code, untrusted.stderr).to.equal(8);
      expect((await runAgent([...args, '--ca-file', key])).code).to.equal(64);
      const ran = await runAgent(args, { env: { SVC_CA_FILE: cert } });
      expect(ran.stderr).to.include('from https to http');
      expect(ran.code).to.equal(1);
      await secure.stop();
      await remove(folder);
    });
  });

  it('reports an expired certificate with the local time (with openssl)', async function () {
    const made = await certificates();
    if (made === null) this.skip();
    const folder = await scratch();
    await writeFile(join(folder, 'ca.pem'), made.ca);
    const secure = new ReleaseServer(keys);
    await secure.start(made.expired);
    const ran = await runHere(['--server', secure.url, '--dir', dir, '--ca-file', join(folder, 'ca.pem')]);
    await secure.stop();
    await remove(folder);
    expect(ran.code, ran.stderr).to.equal(8);
    expect(ran.stderr).to.match(/certificate has expired \(this machine’s clock says 20\S+Z\)$/m);
  });

  it('requires --allow-http for http outside loopback', async () => {
    const ran = await runHere(['--server', 'http://192.0.2.1', '--dir', dir]);
    expect(ran.code).to.equal(64);
    expect(ran.stderr).to.include('--allow-http');
  });

  describe('proxies', () => {
    let proxy: Server;
    let address: string;
    const seen: string[] = [];

    beforeEach(async () => {
      seen.length = 0;
      // Both ways in which clients speak to proxies.
      proxy = createServer((request, response) => {
        seen.push(request.url ?? '');
        const onward = httpRequest(
          request.url ?? '',
          { method: request.method, headers: request.headers },
          (answer) => {
            response.writeHead(answer.statusCode ?? 500, answer.headers);
            answer.pipe(response);
          },
        );
        request.pipe(onward);
      });
      proxy.on('connect', (request, socket) => {
        seen.push(request.url ?? '');
        const [host, port] = (request.url ?? '').split(':');
        if (host?.endsWith('.invalid') === true) {
          socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
          return;
        }
        const onward = connect(Number(port), host, () => {
          socket.write('HTTP/1.1 200 OK\r\n\r\n');
          onward.pipe(socket).pipe(onward);
        });
        onward.on('error', () => socket.destroy());
        socket.on('error', () => onward.destroy());
      });
      await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
      address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    });
    afterEach(() => {
      proxy.closeAllConnections();
      proxy.close();
    });

    for (const [name, prefix] of [
      ['HTTP_PROXY', ''],
      ['http_proxy', ''],
      ['HTTP_PROXY', 'http://'],
    ] as const)
      it(`uses ${name} ${prefix === '' ? 'with' : 'without'} a scheme`, async () => {
        const ran = await go([], { [name]: address.slice(prefix.length) });
        expect(ran.code, ran.stderr).to.equal(0);
        expect(seen.length).to.be.greaterThan(0);
      });

    it('uses HTTPS_PROXY for https', async () => {
      const ran = await runHere(['--server', 'https://aos.example.invalid', '--dir', dir], { HTTPS_PROXY: address });
      expect(ran.code).to.equal(8);
      expect(seen).to.deep.equal(['aos.example.invalid:443']);
    });

    it('bypasses the proxy for NO_PROXY', async () => {
      expect((await go([], { HTTP_PROXY: address, NO_PROXY: '127.0.0.1' })).code).to.equal(0);
      expect(seen).to.deep.equal([]);
    });

    it('exits 64 for an invalid proxy address, and names the variable', async () => {
      const ran = await go([], { HTTP_PROXY: 'socks5://127.0.0.1:1' });
      expect(ran.code).to.equal(64);
      expect(ran.stderr).to.include('HTTP_PROXY must be host:port');
    });

    it('exits 8 for an unreachable proxy', async () => {
      expect((await go([], { HTTP_PROXY: 'http://127.0.0.1:1' })).code).to.equal(8);
    });
  });

  it('exits 8 for 429, 5xx and no response', async () => {
    for (const status of [429, 500, 502, 503]) {
      server.lies.request = (_request, response) => {
        response.writeHead(status).end();
        return true;
      };
      expect((await go()).code, String(status)).to.equal(8);
    }
    await server.stop();
    expect((await go()).code).to.equal(8);
    await server.start();
  });

  it('exits 8 for a package that is temporarily unavailable', async () => {
    server.lies.request = (request, response) => {
      if (!request.url?.startsWith('/releases/')) return false;
      response.writeHead(503).end();
      return true;
    };
    expect((await go()).code).to.equal(8);
  });
});
