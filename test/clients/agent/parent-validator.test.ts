import { expect } from 'chai';
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ParentValidator } from '../../../clients/agent/system/parent-validator.js';

describe('update-agent: folders of the installation', () => {
  let root: string;

  beforeEach(async () => {
    root = await realpath(await mkdtemp(join(tmpdir(), 'aos-parents-')));
  });
  afterEach(() => rm(root, { recursive: true }));

  it('tolerate that another agent removes its staging folder meanwhile', async () => {
    const folder = join(root, 'staging');
    const test = new AbortController();
    const churn = async (): Promise<void> => {
      while (!test.signal.aborted) {
        await mkdir(folder);
        await rm(folder, { recursive: true });
      }
    };
    const other = churn();
    const kinds = new Set<string>();
    try {
      for (let i = 0; i < 2_000; i++) kinds.add(await (await ParentValidator.of(root)).of('staging/x'));
    } finally {
      test.abort();
      await other;
    }
    expect([...kinds].toSorted()).to.deep.equal(['directory', 'missing']);
  });
});
