/** A first start with a configuration that is not good leaves nothing behind (contract 00, configuration). */
import { expect } from 'chai';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
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
