/** deploy/ before the programs that it is for. */
import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findPackageRoot } from '../../../config/load.js';

const DEPLOY = join(findPackageRoot(), 'deploy');
const textOf = (name: string): Promise<string> => readFile(join(DEPLOY, name), 'utf8');

describe('deploy/', () => {
  it('is a valid configuration for Caddy', function () {
    if (spawnSync('caddy', ['version'], { stdio: 'ignore' }).error !== undefined) this.skip();
    const file = join(DEPLOY, 'Caddyfile');
    const { status, stderr } = spawnSync('caddy', ['validate', '--config', file, '--adapter', 'caddyfile']);
    expect(status, String(stderr)).to.equal(0);
  });

  it('is a valid configuration for nginx (with nginx)', async function () {
    if (spawnSync('nginx', ['-v'], { stdio: 'ignore' }).error !== undefined) this.skip();
    const folder = await mkdtemp(join(tmpdir(), 'aos-nginx-'));
    try {
      // nginx looks the names of the processes up when it starts.
      const text = (await textOf('nginx.conf')).replaceAll(/server aos-\d:/g, 'server 127.0.0.1:');
      await writeFile(join(folder, 'nginx.conf'), `pid ${folder}/pid;\n${text}`);
      const { status, stderr } = spawnSync('nginx', ['-t', '-p', folder, '-c', join(folder, 'nginx.conf')]);
      expect(status, String(stderr)).to.equal(0);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('is valid for Kubernetes (with kubernetes-validate)', function () {
    if (spawnSync('kubernetes-validate', ['--help'], { stdio: 'ignore' }).error !== undefined) this.skip();
    const files = ['aos', 'migrate', 'secrets.example'].map((name) => join(DEPLOY, 'kubernetes', `${name}.yaml`));
    const { status, stdout, stderr } = spawnSync('kubernetes-validate', ['--strict', ...files], { encoding: 'utf8' });
    expect(status, stdout + stderr).to.equal(0);
  });
});
