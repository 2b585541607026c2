/** The published license files before openssl. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { LICENSE_FILE_SIGNED_PREFIX } from '../../../lib/formats/license-text.js';

const run = promisify(execFile);
const source = new URL('../../fixtures/vectors/license-files.json', import.meta.url);
const vectors = JSON.parse(await readFile(source, 'utf8')) as {
  name: string;
  alg: string;
  public_key: string;
  file: string;
}[];

describe('license files', () => {
  for (const { name, alg, public_key, file: text } of vectors) {
    it(`are verified by openssl: ${name}`, async () => {
      const folder = await mkdtemp(join(tmpdir(), 'aos-lic-'));
      const at = (part: string): string => join(folder, part);
      try {
        const inner = JSON.parse(Buffer.from(text.split('\n').slice(1, -2).join(''), 'base64').toString()) as {
          enc: string;
          sig: string;
        };
        await writeFile(at('pem'), public_key);
        await writeFile(at('signed'), LICENSE_FILE_SIGNED_PREFIX + inner.enc);
        await writeFile(at('sig'), Buffer.from(inner.sig, 'base64'));
        const args =
          alg === 'ed25519'
            ? [
                'pkeyutl',
                '-verify',
                '-pubin',
                '-inkey',
                at('pem'),
                '-rawin',
                '-in',
                at('signed'),
                '-sigfile',
                at('sig'),
              ]
            : ['dgst', '-sha256', '-verify', at('pem'), '-signature', at('sig'), at('signed')];
        expect((await run('openssl', args)).stdout).to.match(/Verified (Successfully|OK)/);
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    });
  }
});
