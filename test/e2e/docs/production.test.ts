/**
 * A production installation with the lines of docs/systemd.md and docs/reverse-proxy.md as they are
 * printed: below a directory that stands for the root, with stand-ins for what only systemd and
 * root can do. Needs a registry, or npm's cache, for the libraries.
 */
import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectRoot } from '../../architecture/tree.js';
import { fillPlaceholders, Guide } from '../../support/guide.js';
import { startNginx } from '../../support/nginx.js';
import { packService } from '../../support/packed-service.js';
import { buildCleanEnv, run } from '../../support/programs.js';

/** npm's codes for a registry that is not there. */
const UNREACHABLE = /\b(ENOTFOUND|ECONNREFUSED|ECONNRESET|EAI_AGAIN|ETIMEDOUT|ENOTCACHED)\b/;
const LOCAL = 'http://127.0.0.1:8080';

/** Starts what the unit says, as it says it, below the directory that stands for the root. */
const systemctl = (root: string): string => `#!/bin/sh
[ "$*" = daemon-reload ] && exit 0
[ "$*" = 'enable --now aos.service' ] || exit 64
value() {
  sed -n "s|^$1=||p" '${root}/etc/systemd/system/aos.service' |
    sed 's|/opt/aos|${root}/opt/aos|g; s|/var/lib/aos|${root}/var/lib/aos|g; s|^/usr/bin/node|${process.execPath}|'
}
mkdir -p '${root}/var/lib' && install -d -m "$(value StateDirectoryMode)" "${root}/var/lib/$(value StateDirectory)"
cd "$(value WorkingDirectory)" || exit 1
env "$(value Environment)" setsid $(value ExecStart) >'${root}/journal' 2>&1 </dev/null &
pid=$!
echo $pid >'${root}/pid'
# Type=notify: the command ends when the service serves.
until grep -q '^listening on ' '${root}/journal'; do kill -0 $pid || exit 1; sleep 0.1; done
`;

describe('docs: a production installation', function () {
  this.timeout(900_000);
  let root: string;
  let unit: Guide;
  let proxy: Guide;
  let local: string;
  const at = (...names: string[]): string => join(root, ...names);

  before(async function () {
    if (process.platform !== 'linux') this.skip();
    unit = await Guide.read('docs/systemd.md');
    proxy = await Guide.read('docs/reverse-proxy.md');
    root = await mkdtemp(join(tmpdir(), 'aos-production-'));
    await mkdir(at('etc', 'systemd', 'system'), { recursive: true });
    await mkdir(at('bin'));
    const programs = {
      systemctl: systemctl(root),
      journalctl: `#!/bin/sh\n[ "$*" = '-u aos.service' ] && cat '${at('journal')}'\n`,
      useradd: `#!/bin/sh\necho "$*" >'${at('user')}'\n`,
    };
    for (const [name, text] of Object.entries(programs)) {
      await writeFile(at('bin', name), text);
      await chmod(at('bin', name), 0o755);
    }
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    local = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await new Promise((resolve) => server.close(resolve));
  });
  after(async () => {
    if (root === undefined) return;
    const pid = Number(await readFile(at('pid'), 'utf8').catch(() => '0'));
    if (pid > 0) spawnSync('sh', ['-c', `kill ${pid}; while kill -0 ${pid} 2>/dev/null; do sleep 0.1; done`]);
    await rm(root, { recursive: true, force: true });
  });

  const paste = async (lines: string, cwd: string): Promise<{ code: number | null; stdout: string; stderr: string }> =>
    run('bash', ['-c', `set -e -o pipefail\n${lines}`], {
      cwd,
      limitMs: 600_000,
      env: buildCleanEnv({
        PATH: `${at('bin')}:${process.env['PATH'] ?? ''}`,
        SVC_SERVER__PORT: new URL(local).port,
        // A start would copy what `npm run build:agent` has made: some hundred megabytes.
        SVC_SETUP__BUILT_AGENTS: 'build/none',
      }),
    });

  it('runs from an archive as a service behind a web server', async function () {
    const packed = await packService();
    const build = `'${process.execPath}' scripts/build-service.mjs --output '${at('build')}' --package '${packed}'`;
    const archive = fillPlaceholders(unit.getBlock('Install the unit', 'sh', 'build:service'), {
      'npm ci && npm run build:service': build,
      'build/service/linux-x64': at('build', `linux-${process.arch}`),
      'aos.tar.gz': at('aos.tar.gz'),
    });
    const built = await paste(archive, projectRoot());
    if (built.code !== 0 && UNREACHABLE.test(built.stderr)) {
      process.stdout.write('  a production installation: no registry to take its libraries from\n');
      this.skip();
    }
    expect(built.code, built.stderr).to.equal(0);

    const install = fillPlaceholders(unit.getBlock('Install the unit', 'sh', 'useradd'), {
      '/opt/aos': at('opt', 'aos'),
      '/etc/systemd/system': at('etc', 'systemd', 'system'),
      [LOCAL]: local,
    });
    const proxies = proxy.getBlock('Configure the proxy', 'sh', 'TRUSTED_PROXIES');
    const installed = await paste(`${proxies}\n${install}`, root);
    expect(installed.code, `${install}\n${installed.stdout}${installed.stderr}`).to.equal(0);
    expect(installed.stdout).to.match(/^password: \S{10,} [^\n]*\n\{[^\n]*"ready":true/m);
    expect(await readFile(at('user'), 'utf8')).to.match(/ aos$/m);
    expect((await stat(at('var', 'lib', 'aos', 'data-key'))).mode & 0o777).to.equal(0o600);

    const nginx = await startNginx(
      fillPlaceholders(proxy.getBlock('Serve releases by the web server', 'nginx'), { [LOCAL]: local }),
    );
    if (nginx === null) return;
    try {
      const health = /^curl .*$/m.exec(unit.getBlock('Install the unit', 'sh', 'useradd'))?.[0] ?? '';
      const requested = await paste(fillPlaceholders(health, { [LOCAL]: nginx.url }), root);
      expect(requested.stdout, requested.stderr).to.match(/"ready":true/);
    } finally {
      await nginx.stop();
    }
  });

  it('has a unit file that systemd accepts', async function () {
    if (spawnSync('systemd-analyze', ['--version']).status !== 0) this.skip();
    const unit = at('etc', 'systemd', 'system', 'aos.service');
    await writeFile(unit, (await readFile(unit, 'utf8')).replace('/usr/bin/node', process.execPath));
    const checked = await run('systemd-analyze', ['verify', '--man=no', unit], { cwd: root });
    expect(checked.stderr + checked.stdout).to.equal('');
    expect(checked.code).to.equal(0);
  });
});
