/**
 * A first start with a configuration that is not good leaves nothing behind (contract 00,
 * configuration). Most of these starts are in this process; of each kind one is the program's.
 */
import { expect } from 'chai';
import { chmod, chown, lchown, mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCliInProcess } from '../../support/in-process-cli.js';
import { runCli, buildServiceEnv, type CommandOutcome } from '../../support/service.js';

describe('start: invalid configuration', function () {
  let folder: string;
  beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), 'aos-bad-'))));
  afterEach(() => rm(folder, { recursive: true, force: true }));

  /** bundle.test.ts covers invalid addresses. */
  const BY_PROGRAM = new Set(['an unknown key', 'a bad value of a plugin', 'an own rule of a plugin']);
  const serve = (name: string, env: NodeJS.ProcessEnv): Promise<CommandOutcome> =>
    BY_PROGRAM.has(name) ? runCli(env, ['serve']) : runCliInProcess(env, ['serve']);

  const bad: Record<string, Record<string, string>> = {
    'an unknown key': { SVC_SERVER__NOSUCH: '1' },
    'an unknown section': { SVC_NOSUCHPLUGIN__KEY: '1' },
    'a bad value of the service': { SVC_LIMITS__JSON_BYTES: 'many' },
    'a bad value of a plugin': { SVC_RELEASES__HALT_AFTER: 'many' },
    'an unknown key of a plugin': { SVC_WATCHDOG__NOSUCH: '1' },
    'an invalid license key': { SVC_LICENSE_KEY: '-----BEGIN NOTHING-----' },
    'a release key that is not there': { SVC_RELEASE_PRIVATE_KEY: '/nowhere/key.pem' },
  };
  for (const [name, extra] of Object.entries(bad)) {
    for (const there of [false, true]) {
      it(`${name}: exits 1 with one line, and ${there ? 'an empty data directory stays empty' : 'no data directory'}`, async () => {
        const data = join(folder, 'data');
        if (there) await mkdir(data);
        const { code, stderr } = await serve(there ? name : '', buildServiceEnv(data, extra));
        expect([code, stderr.trim().split('\n').length], stderr).to.deep.equal([1, 1]);
        expect(await readdir(folder, { recursive: true })).to.deep.equal(there ? ['data'] : []);
      });
    }
  }

  const MONGO = {
    SVC_RELEASE_PRIVATE_KEY: '',
    SVC_LICENSE_KEY: 'l'.repeat(32),
    SVC_SECURITY__DATA_KEY: 'd'.repeat(32),
  };
  const reported: Record<string, [variables: Record<string, string>, line: string]> = {
    'an own rule of a plugin': [
      { SVC_ADMIN_PASSWORD: 'short' },
      'auth.admin_password must have at least 12 characters; fix it in environment variable SVC_ADMIN_PASSWORD',
    ],
    'a release key that is not there': [
      { SVC_RELEASE_PRIVATE_KEY: '/nowhere/key.pem' },
      'release_private_key /nowhere/key.pem cannot be read: ENOENT (from environment variable SVC_RELEASE_PRIVATE_KEY)',
    ],
    'a data directory below a file': [
      { SVC_DATA_DIR: '/etc/passwd/data' },
      'data_dir /etc/passwd/data is not a directory, or is below a file (from environment variable SVC_DATA_DIR)',
    ],
    'a store below a file': [
      { SVC_STORAGE_URL: 'sqlite:/etc/passwd/aos.db' },
      'storage.url /etc/passwd/aos.db is not a directory, or is below a file (from environment variable SVC_STORAGE_URL)',
    ],
    'an option that MongoDB does not know': [
      { ...MONGO, SVC_STORAGE_URL: 'mongodb://127.0.0.1:1/aos?nosuch=1' },
      'storage.url is not accepted: option nosuch is not supported (from environment variable SVC_STORAGE_URL)',
    ],
    'a host that is no address here': [
      { SVC_HOST: '192.0.2.1' },
      'server.host 192.0.2.1 is not an address of this machine (from environment variable SVC_HOST)',
    ],
  };
  for (const [name, [extra, line]] of Object.entries(reported)) {
    it(`${name}: prints the key, the error and its source on one line`, async () => {
      const { code, stderr } = await serve(name, buildServiceEnv(join(folder, 'data'), extra));
      expect({ code, stderr }).to.deep.equal({ code: 1, stderr: `configuration: ${line}\n` });
    });
  }

  it('creates no key in a shared writable folder, and leaves the folder unchanged', async () => {
    const place = join(folder, 'shared');
    await mkdir(place);
    await writeFile(join(place, 'theirs.txt'), '');
    await chmod(place, 0o2775);
    const { code, stderr } = await runCliInProcess(buildServiceEnv(place), ['serve']);
    expect({ code, stderr }).to.deep.equal({
      code: 1,
      stderr: `configuration: data_dir is a folder that others use (theirs.txt) and can write to, so keys cannot be stored in it: choose a separate one, such as ${join(place, 'aos')} (from environment variable SVC_DATA_DIR)\n`,
    });
    expect(await readdir(place)).to.deep.equal(['theirs.txt']);
    expect((await stat(place)).mode & 0o7777).to.equal(0o2775);
  });

  const STRANGER = 54_321;
  for (const [name, setting, from] of [
    ['data-key', 'data_dir', 'SVC_DATA_DIR'],
    ['aos.db', 'storage.url', 'config/default.json'],
    ['aos.db-wal', 'storage.url', 'config/default.json'],
    ['restore', 'data_dir', 'SVC_DATA_DIR'],
    ['server.json', 'data_dir', 'SVC_DATA_DIR'],
    ['installer', 'data_dir', 'SVC_DATA_DIR'],
  ] as const)
    it(`creates nothing next to ${name} of another user in a folder like /tmp (as root)`, async function () {
      if (process.geteuid?.() !== 0) this.skip();
      const place = join(folder, 'everybody’s');
      await mkdir(place);
      await chmod(place, 0o1777);
      const path = join(place, name);
      if (name === 'restore' || name === 'installer') await mkdir(path);
      else await writeFile(path, 'x'.repeat(40), { mode: 0o644 });
      await chown(path, STRANGER, STRANGER);
      const { code, stderr } = await runCliInProcess(buildServiceEnv(place), ['serve']);
      expect({ code, stderr }).to.deep.equal({
        code: 1,
        stderr:
          `configuration: ${setting} points to ${path}, which belongs to user ${STRANGER}, but this is user 0: remove it ` +
          'if that user put it there, otherwise change its owner to this user (chown), or run this as that user ' +
          `(from ${from.startsWith('SVC') ? 'environment variable ' : ''}${from})\n`,
      });
      expect(await readdir(place)).to.deep.equal([name]);
    });

  it('rejects a key file that is another user’s symlink to a public file (as root)', async function () {
    if (process.geteuid?.() !== 0) this.skip();
    const place = join(folder, 'everybody’s');
    await mkdir(place);
    await chmod(place, 0o1777);
    await symlink('/etc/passwd', join(place, 'license-key'));
    await lchown(join(place, 'license-key'), STRANGER, STRANGER);
    const { code, stderr } = await runCli(buildServiceEnv(place), ['serve']);
    expect(code).to.equal(1);
    expect(stderr).to.contain(`data_dir points to ${join(place, 'license-key')}, which belongs to user ${STRANGER}`);
    expect(await readdir(place)).to.deep.equal(['license-key']);
  });

  it('rejects a world-writable file as configuration, secret, key or plugin', async () => {
    const file = join(folder, 'aos.json');
    await writeFile(file, '{}');
    await chmod(file, 0o666);
    const plugin = join(folder, 'plugin.mjs');
    await writeFile(plugin, 'process.exit(7);');
    await chmod(plugin, 0o666);
    const naming = join(folder, 'naming.json');
    await writeFile(naming, JSON.stringify({ plugins: [plugin] }));
    const why = 'is writable by every user: check that its content is yours, then remove that permission (chmod go-w)';
    for (const [variables, line] of [
      [{ SVC_CONFIG: file }, `configuration: SVC_CONFIG ${why} (from ${file})`],
      [
        { SVC_LICENSE_KEY_FILE: file },
        `configuration: SVC_LICENSE_KEY_FILE refers to a file that ${why} (from ${file})`,
      ],
      [
        { SVC_RELEASE_PRIVATE_KEY: file },
        `configuration: release_private_key ${file} ${why} (from environment variable SVC_RELEASE_PRIVATE_KEY)`,
      ],
      [{ SVC_CONFIG: naming }, `${plugin} ${why}`],
    ] as [Record<string, string>, string][]) {
      // The plugin would end this process.
      const start = variables['SVC_CONFIG'] === naming ? runCli : runCliInProcess;
      const { code, stderr } = await start(buildServiceEnv(join(folder, 'data'), variables), ['serve']);
      expect([code, stderr.includes(line)], `${stderr}\n${line}`).to.deep.equal([1, true]);
    }
  });

  it('reports a directory in place of the store, and leaves its mode unchanged', async () => {
    const place = join(folder, 'shared');
    await mkdir(place);
    await chmod(place, 0o777);
    const env = buildServiceEnv(join(folder, 'data'), { SVC_STORAGE_URL: `sqlite:${place}` });
    const { code, stderr } = await runCliInProcess(env, ['serve']);
    expect({ code, stderr }).to.deep.equal({
      code: 1,
      stderr: `configuration: storage.url ${place} is not a file (from environment variable SVC_STORAGE_URL)\n`,
    });
    expect((await stat(place)).mode & 0o777).to.equal(0o777);
  });

  it('creates no further keys when a plugin’s section in a file is invalid', async () => {
    const data = join(folder, 'data');
    await mkdir(data);
    await writeFile(join(data, 'license-key'), 'x'.repeat(40));
    await writeFile(join(folder, 'aos.json'), JSON.stringify({ releases: { halt_after: 'many' } }));
    const { code, stderr } = await runCliInProcess(buildServiceEnv(data, { SVC_CONFIG: join(folder, 'aos.json') }), [
      'serve',
    ]);
    expect([code, /halt_after/.test(stderr)], stderr).to.deep.equal([1, true]);
    expect(await readdir(data)).to.deep.equal(['license-key']);
  });
});
