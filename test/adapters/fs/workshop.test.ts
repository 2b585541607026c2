/** Small packages are hashed without the start of a thread; the hash is the same on both sides of the limit. */
import { expect } from 'chai';
import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHook } from 'node:async_hooks';
import { SMALL_BYTES, Workshop } from '../../../adapters/fs/workshop.js';

describe('fs: the workshop', () => {
  let dir: string;
  let threads = 0;
  const hook = createHook({ init: (_id, type) => void (threads += type === 'WORKER' ? 1 : 0) });
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'aos-workshop-'));
    hook.enable();
  });
  after(async () => {
    hook.disable();
    await rm(dir, { recursive: true, force: true });
  });

  for (const [size, wanted] of [
    [0, 0],
    [SMALL_BYTES, 0],
    [SMALL_BYTES + 1, 1],
  ] as const)
    it(`hashes ${size} bytes with ${wanted} threads`, async () => {
      const bytes = Buffer.alloc(size, 'x');
      const path = join(dir, String(size));
      await writeFile(path, bytes);
      threads = 0;
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      expect(await new Workshop().hash(path)).to.deep.equal({ sha256, size });
      expect(threads).to.equal(wanted);
    });
});
