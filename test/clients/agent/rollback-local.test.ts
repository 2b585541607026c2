/** `--action rollback` returns to the version before, from its kept backup (contract 97). */
import { expect } from 'chai';
import { chmod, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createKeys, ReleaseServer, type SourceFile, type TestRelease } from '../../support/release-server.js';
import { install, remove, runHere, scratch, treeOf, type Ran } from './agent.js';

const keys = createKeys();
const FILES: Record<string, SourceFile[]> = {
  '1.0.0': [
    { path: 'app.sh', content: '#!/bin/sh\necho 1\n', mode: '0755' },
    { path: 'lib/core.txt', content: 'core 1' },
    { path: 'old/deep/gone.txt', content: 'gone' },
    { path: 'same.txt', content: 'same' },
    { path: 'settings.json', content: '{"a":1}' },
  ],
  '1.1.0': [
    { path: 'app.sh', content: '#!/bin/sh\necho 2\n', mode: '0755' },
    { path: 'lib/core.txt', content: 'core 2' },
    { path: 'new/deep/file.txt', content: 'new' },
    { path: 'same.txt', content: 'same' },
    { path: 'settings.json', content: '{"a":2}' },
  ],
  '1.2.0': [
    { path: 'app.sh', content: '#!/bin/sh\necho 3\n', mode: '0755' },
    { path: 'same.txt', content: 'same' },
  ],
};

describe('update-agent: --action rollback', function () {
  let server: ReleaseServer;
  let dir: string;
  const publish = (version: string): TestRelease =>
    server.publish({ version, files: FILES[version] ?? [], preserve: ['settings*.json'] });
  const go = (...args: string[]): Promise<Ran> => runHere(['--dir', dir, ...args]);
  const update = (...args: string[]): Promise<Ran> => go('--server', server.url, ...args);
  const rollBack = (...args: string[]): Promise<Ran> => go('--action', 'rollback', ...args);
  const own = (...names: string[]): string => join(dir, '.update-agent', ...names);

  beforeEach(async () => {
    server = new ReleaseServer(keys);
    await server.start();
    dir = await scratch();
    await install(dir, publish('1.0.0'));
  });
  afterEach(async () => {
    await server.stop();
    await remove(dir);
  });

  it('restores the version before, byte for byte, without a server', async () => {
    const before = await treeOf(dir);
    publish('1.1.0');
    expect(await update()).to.include({ code: 0, stdout: 'UPDATED: 1.0.0 -> 1.1.0\n' });
    await server.stop();
    expect(await rollBack()).to.include({ code: 0, stdout: 'ROLLED_BACK: 1.1.0 -> 1.0.0\n' });
    expect(await treeOf(dir)).to.deep.equal(before);
    expect(await readdir(own('previous'))).to.deep.equal([]);
    await server.start();
  });

  it('restores files that were changed on this machine, and leaves preserved ones', async () => {
    await writeFile(join(dir, 'lib/core.txt'), 'mine');
    await chmod(join(dir, 'lib/core.txt'), 0o600);
    await writeFile(join(dir, 'settings.json'), '{"a":"mine"}');
    const before = await treeOf(dir);
    publish('1.1.0');
    expect((await update()).code).to.equal(0);
    expect(await readFile(join(dir, 'lib/core.txt.local'), 'utf8')).to.equal('mine');
    await writeFile(join(dir, 'app.sh'), 'changed since');
    expect((await rollBack()).code).to.equal(0);
    expect(await readFile(join(dir, 'app.sh.local'), 'utf8')).to.equal('changed since');
    const after = await treeOf(dir);
    for (const name of ['app.sh.local', 'lib/core.txt.local']) delete after[name];
    expect(after).to.deep.equal(before);
  });

  it('exits with 5 and changes nothing where no version before is kept', async () => {
    const before = await treeOf(dir);
    const none = await rollBack();
    expect(none).to.include({ code: 5, stdout: '' });
    expect(none.stderr).to.match(/no backup of an earlier version exists/);
    publish('1.1.0');
    expect((await update('--keep-backups', '0')).code).to.equal(0);
    expect((await rollBack()).code).to.equal(5);
    expect(await treeOf(dir)).not.to.deep.equal(before);
    await rm(join(dir, 'manifest.json'));
    expect((await rollBack()).stderr).to.include('no installation found');
  });

  it('keeps as many versions as --keep-backups says', async () => {
    for (const version of ['1.1.0', '1.2.0']) {
      publish(version);
      expect((await update('--keep-backups', '2')).stdout).to.include(version);
    }
    expect(await readdir(own('previous'))).to.have.length(2);
    expect((await rollBack()).stdout).to.equal('ROLLED_BACK: 1.2.0 -> 1.1.0\n');
    expect((await rollBack()).stdout).to.equal('ROLLED_BACK: 1.1.0 -> 1.0.0\n');
    expect((await rollBack()).code).to.equal(5);
  });

  it('keeps one version by default', async () => {
    for (const version of ['1.1.0', '1.2.0']) {
      publish(version);
      expect((await update()).stdout).to.include(version);
    }
    expect(await readdir(own('previous'))).to.have.length(1);
    expect((await rollBack()).stdout).to.equal('ROLLED_BACK: 1.2.0 -> 1.1.0\n');
    expect((await rollBack()).code).to.equal(5);
  });

  it('exits with 5 when the backup lacks a file or its manifest is damaged', async () => {
    publish('1.1.0');
    expect((await update()).code).to.equal(0);
    const before = await treeOf(dir);
    const [name = ''] = await readdir(own('previous'));
    await rm(own('previous', name, 'app.sh'));
    const ran = await rollBack();
    expect(ran).to.include({ code: 5 });
    expect(ran.stderr).to.include('lacks app.sh');
    await writeFile(own('previous', name, 'manifest.json'), '{}');
    expect((await rollBack()).code).to.equal(5);
    expect(await treeOf(dir)).to.deep.equal(before);
  });

  it('does not return to the version it rolled back from until an option requires it or a newer one is offered', async () => {
    publish('1.1.0');
    await update();
    await rollBack();
    const nightly = await update();
    expect(nightly).to.include({ code: 0 });
    expect(nightly.stdout)
      .to.match(/WARNING: 1\.1\.0 was rolled back here/)
      .and.include('UP_TO_DATE: 1.0.0\n');
    expect((await update('--action', 'update')).stdout).to.equal('UPDATED: 1.0.0 -> 1.1.0\n');
    await rollBack();
    publish('1.2.0');
    expect((await update()).stdout).to.equal('UPDATED: 1.0.0 -> 1.2.0\n');
    expect(await readFile(own('state.json'), 'utf8')).not.to.include('left_version');
  });

  it('leaves files that were removed from the installation', async () => {
    publish('1.1.0');
    await update();
    await rm(join(dir, 'same.txt'));
    const ran = await rollBack();
    expect(ran.stdout).to.include('WARNING: same.txt was removed').and.include('ROLLED_BACK: 1.1.0 -> 1.0.0');
    expect(await treeOf(dir)).not.to.have.property('same.txt');
  });

  it('rejects an invalid number of backups', async () => {
    for (const value of ['-1', '11', 'all', ''])
      expect((await rollBack(`--keep-backups=${value}`)).code, value).to.equal(64);
  });

  for (const point of [
    'before journal',
    'journal begun',
    'old is safe',
    'before commit',
    'after commit',
    'backup kept',
  ])
    it(`leaves one whole version when a run fails at: ${point}`, async () => {
      const earlier = await treeOf(dir);
      publish('1.1.0');
      const fail = {
        at: (reached: string): void => {
          if (reached === point) throw new Error('the power failed');
        },
      };
      await runHere(['--server', server.url, '--dir', dir], {}, fail);
      expect((await update()).code, 'update, again').to.equal(0);
      const later = await treeOf(dir);
      expect(await readdir(own('previous'))).to.have.length(1);
      await runHere(['--action', 'rollback', '--dir', dir], {}, fail);
      await go('--action', 'recover');
      const now = await treeOf(dir);
      if (JSON.stringify(now) === JSON.stringify(later)) expect((await rollBack()).code).to.equal(0);
      expect(await treeOf(dir)).to.deep.equal(earlier);
      expect((await rollBack()).code).to.equal(5);
    });
});
