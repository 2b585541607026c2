import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkStoreFile } from '../../../../adapters/sqlite/copying/check-store-file.js';
import { prepareDataDir } from '../../../support/prepared-data-dir.js';
import { buildServiceEnv } from '../../../support/service.js';

describe('checkStoreFile', () => {
  it('accepts a store created by a first start', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'aos-judge-'));
    try {
      await prepareDataDir(dir, buildServiceEnv);
      expect(checkStoreFile(join(dir, 'aos.db'))).to.equal(null);
    } finally {
      await rm(dir, { recursive: true });
    }
  });
});
