/** A first start with a configuration that is not good leaves nothing behind (contract 00, configuration). */
import { expect } from 'chai';
import { chmod, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { aos, serviceEnv } from '../support/service.js';

describe('start: a bad configuration', function () {
  this.timeout(60_000);
  let folder: string;
  beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), 'aos-bad-'))));
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const bad: Record<string, Record<string, string>> = {
    'an unknown key': { SVC_SERVER__NOSUCH: '1' },
    'a bad value of the service': { SVC_LIMITS__JSON_BYTES: 'many' },
    'a bad value of a plugin': { SVC_RELEASES__HALT_AFTER: 'many' },
    'an unknown key of a plugin': { SVC_WATCHDOG__NOSUCH: '1' },
    'a license key that is none': { SVC_LICENSE_KEY: '-----BEGIN NOTHING-----' },
    'a release key that is not there': { SVC_RELEASE_PRIVATE_KEY: '/nowhere/key.pem' },
  };
  for (const [name, extra] of Object.entries(bad)) {
    for (const there of [false, true]) {
      it(`${name}: one line, exit 1, and ${there ? 'an empty data directory stays empty' : 'no data directory'}`, async () => {
        const data = join(folder, 'data');
        if (there) await mkdir(data);
        const { code, stderr } = await aos(serviceEnv(data, extra), ['serve']);
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
  const told: Record<string, [variables: Record<string, string>, line: string]> = {
    'an own rule of a plugin': [
      { SVC_ADMIN_PASSWORD: 'short' },
      'access.admin_password must have at least 12 characters; mend it in environment variable SVC_ADMIN_PASSWORD',
    ],
    'a release key that is not there': [
      { SVC_RELEASE_PRIVATE_KEY: '/nowhere/key.pem' },
      'release_private_key /nowhere/key.pem cannot be read: ENOENT (from environment variable SVC_RELEASE_PRIVATE_KEY)',
    ],
    'a data directory below a file': [
      { SVC_DATA_DIR: '/etc/passwd/data' },
      'data_dir /etc/passwd/data is no directory, or lies below a file (from environment variable SVC_DATA_DIR)',
    ],
    'a store below a file': [
      { SVC_STORAGE_URL: 'sqlite:/etc/passwd/aos.db' },
      'storage.url /etc/passwd/aos.db is no directory, or lies below a file (from environment variable SVC_STORAGE_URL)',
    ],
    'an option that MongoDB does not know': [
      { ...MONGO, SVC_STORAGE_URL: 'mongodb://127.0.0.1:1/aos?nosuch=1' },
      'storage.url is refused: option nosuch is not supported (from environment variable SVC_STORAGE_URL)',
    ],
    'a host that is no address here': [
      { SVC_HOST: '192.0.2.1' },
      'server.host 192.0.2.1 is no address of this machine (from environment variable SVC_HOST)',
    ],
  };
  for (const [name, [extra, line]] of Object.entries(told)) {
    it(`${name}: the line names the key, what is wrong and where it came from`, async () => {
      const { code, stderr } = await aos(serviceEnv(join(folder, 'data'), extra), ['serve']);
      expect({ code, stderr }).to.deep.equal({ code: 1, stderr: `configuration: ${line}\n` });
    });
  }

  it('a folder that others use and may write to: no key is made there, and it stays as it was', async () => {
    const place = join(folder, 'shared');
    await mkdir(place);
    await writeFile(join(place, 'theirs.txt'), '');
    await chmod(place, 0o2775);
    const { code, stderr } = await aos(serviceEnv(place), ['serve']);
    expect({ code, stderr }).to.deep.equal({
      code: 1,
      stderr: `configuration: data_dir is a folder that others use (theirs.txt) and may write to, and so no place for keys: name one of its own, such as ${join(place, 'aos')} (from environment variable SVC_DATA_DIR)\n`,
    });
    expect(await readdir(place)).to.deep.equal(['theirs.txt']);
    expect((await stat(place)).mode & 0o7777).to.equal(0o2775);
  });

  it('a directory in the place of the store: the line says so, and its mode stays as it was', async () => {
    const place = join(folder, 'shared');
    await mkdir(place);
    await chmod(place, 0o777);
    const { code, stderr } = await aos(serviceEnv(join(folder, 'data'), { SVC_STORAGE_URL: `sqlite:${place}` }), [
      'serve',
    ]);
    expect({ code, stderr }).to.deep.equal({
      code: 1,
      stderr: `configuration: storage.url ${place} is no file (from environment variable SVC_STORAGE_URL)\n`,
    });
    expect((await stat(place)).mode & 0o777).to.equal(0o777);
  });

  it('a plugin’s section that a file names, beside keys that lie there already: nothing is added', async () => {
    const data = join(folder, 'data');
    await mkdir(data);
    await writeFile(join(data, 'license-key'), 'x'.repeat(40));
    await writeFile(join(folder, 'aos.json'), JSON.stringify({ releases: { halt_after: 'many' } }));
    const { code, stderr } = await aos(serviceEnv(data, { SVC_CONFIG: join(folder, 'aos.json') }), ['serve']);
    expect([code, /halt_after/.test(stderr)], stderr).to.deep.equal([1, true]);
    expect(await readdir(data)).to.deep.equal(['license-key']);
  });
});
