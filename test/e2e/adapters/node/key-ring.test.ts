/** Signatures of the release key before openssl. */
import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { MemoryStore } from '../../../../adapters/memory/store.js';
import { DataCipher } from '../../../../adapters/node/cipher.js';
import { KeyRings } from '../../../../adapters/node/keys/key-rings.js';
import { KEY_FILES, loadKeys } from '../../../../adapters/node/keys/keys.js';
import { ManualClock } from '../../../kit/clock.js';
import { RecordingLog } from '../../../kit/fakes.js';

describe('signing keys', () => {
  it('create signatures that openssl verifies', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'aos-ring-'));
    try {
      const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
      await writeFile(join(folder, KEY_FILES.release), privateKey.export({ type: 'pkcs8', format: 'pem' }));
      const given = { release_private_key: null, license_key: null };
      const keys = await loadKeys({ ...given, data_key: 'd'.repeat(32) }, folder, false);
      const cipher = new DataCipher('d'.repeat(32));
      const parts = { store: new MemoryStore(), cipher, clock: new ManualClock(), log: new RecordingLog() };
      const rings = new KeyRings(keys, given, folder, parts);
      await rings.checkOwnKeys();
      const at = (name: string): string => join(folder, name);
      const signed = await rings.releases.sign(Buffer.from('{"schema":1}'));
      await writeFile(at('manifest.json'), '{"schema":1}');
      await writeFile(at('manifest.sig'), Buffer.from(signed?.signature ?? '', 'base64'));
      await writeFile(at('key.pem'), signed?.key.public_key ?? '');
      const args = ['dgst', '-sha256', '-verify', at('key.pem'), '-signature', at('manifest.sig'), at('manifest.json')];
      expect((await promisify(execFile)('openssl', args)).stdout).to.equal('Verified OK\n');
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
