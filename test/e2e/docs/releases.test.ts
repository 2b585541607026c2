/**
 * The lines of docs/releases.md that pack and publish, run as they stand there with GNU tar and
 * with bsdtar.
 */
import { execFile, spawnSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { projectRoot } from '../../architecture/tree.js';
import { isAvailable } from '../../support/requirements.js';
import { TestService } from '../../support/service.js';

const run = promisify(execFile);
const pages = ['releases.md', 'rollouts.md'].map((name) => readFile(join(projectRoot(), 'docs', name), 'utf8'));
const guide = (await Promise.all(pages)).join('\n');
const printed = [...guide.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, code = '']) => code);
const recipe = printed.find((code) => code.includes('tar ')) ?? '';

const pathOf = (program: string): string =>
  spawnSync('sh', ['-c', `command -v ${program}`], { encoding: 'utf8' }).stdout.trim();

describe('docs: recipe to pack and publish', function () {
  let service: TestService;
  let dir: string;

  before(async () => {
    service = await TestService.createInProcess();
    await service.createProject('shop');
  });
  after(() => service?.dispose());
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'aos-docs-'));
    await mkdir(join(dir, 'build', 'bin'), { recursive: true });
    await writeFile(join(dir, 'build', 'bin', 'shop'), '#!/bin/sh\n');
    await chmod(join(dir, 'build', 'bin', 'shop'), 0o755);
    await writeFile(join(dir, 'build', 'größe und preis.txt'), 'x');
    await writeFile(join(dir, 'NOTES.md'), '# What is new\n');
  });
  afterEach(() => rm(dir, { recursive: true, force: true }));

  for (const [program, version] of [
    ['tar', '1.0'],
    ['bsdtar', '2.0'],
  ] as const)
    it(`runs with ${program}, and publishes nothing new in a second run (S18)`, async function () {
      const path = pathOf(program);
      if (!isAvailable('bsdtar', path !== '')) this.skip();
      const bin = join(dir, 'path');
      await mkdir(bin);
      await symlink(path, join(bin, 'tar'));
      const env = {
        ...process.env,
        PATH: `${bin}:${process.env['PATH'] ?? ''}`,
        SVC_URL: service.url,
        SVC_TOKEN: await service.createToken('updateservice:publish', 'shop'),
      };
      const publish = async (): Promise<Record<string, unknown>> => {
        const lines = recipe.replaceAll('version=1.4.2', `version=${version}`);
        const { stdout } = await run('sh', ['-ec', lines], { env, cwd: dir });
        return JSON.parse(stdout) as Record<string, unknown>;
      };
      const first = await publish();
      expect(first).to.include({ status: 'success' }).and.not.have.property('unchanged', true);
      expect(await publish()).to.include({ unchanged: true });
      const check = `${service.url}/api/updateservice/v1/check?product=shop&version=0.1&platform=linux-x64`;
      const { release } = (await (await fetch(check)).json()) as {
        release: { version: string; manifest_json: string };
      };
      expect(release.version).to.equal(version);
      const { files } = JSON.parse(release.manifest_json) as { files: { path: string; mode: string }[] };
      expect(files.map(({ path: name, mode }) => [name, mode])).to.have.deep.members([
        ['bin/shop', '0755'],
        ['größe und preis.txt', '0644'],
      ]);
    });
});
