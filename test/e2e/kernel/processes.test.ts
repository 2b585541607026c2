import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const PROGRAM = fileURLToPath(new URL('./migrating-process.js', import.meta.url));

describe('migrations in several processes on sqlite', () => {
  let folder = '';
  before(async () => void (folder = await mkdtemp(join(tmpdir(), 'aos-migrate-'))));
  after(async () => rm(folder, { recursive: true }));

  it('run once for three concurrent starts', async () => {
    const args = [PROGRAM, join(folder, 'aos.db'), join(folder, 'ran.log')];
    const run = promisify(execFile);
    const answers = await Promise.all([1, 2, 3].map(() => run(process.execPath, args)));
    for (const { stdout } of answers) expect(JSON.parse(stdout)).to.deep.equal({ applied: 4, pending: 0 });
    expect(await readFile(join(folder, 'ran.log'), 'utf8')).to.equal('1\n2\n3\n');
  });
});
