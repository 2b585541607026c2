/** The units of docs/examples, before systemd's own judge of them. Skipped where systemd-analyze is not installed. */
import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectRoot } from '../architecture/tree.js';
import { run } from '../support/programs.js';

const EXAMPLES = join(projectRoot(), 'docs', 'examples');
const UNITS = ['aos.service', 'aos-update.service', 'aos-update.timer'];
/** Of ten, as `systemd-analyze security` counts exposure, in tenths: what it calls "OK" begins below 50. */
const MOST_EXPOSED = 20;

describe('the units of systemd', function () {
  this.timeout(60_000);
  let dir: string;

  before(async function () {
    if (spawnSync('systemd-analyze', ['--version']).status !== 0) this.skip();
    dir = await mkdtemp(join(tmpdir(), 'aos-units-'));
    for (const unit of UNITS) {
      const text = await readFile(join(EXAMPLES, unit), 'utf8');
      // Programs of the machine that it is for; the judge looks whether they are there.
      const here = text
        .replaceAll('/usr/local/bin/update-agent', '/bin/true')
        .replaceAll('/usr/bin/node', process.execPath);
      await writeFile(join(dir, unit), here);
    }
  });
  after(() => (dir === undefined ? undefined : rm(dir, { recursive: true })));

  for (const unit of UNITS)
    it(`${unit} is without fault`, async () => {
      const judged = await run('systemd-analyze', ['verify', '--man=no', `./${unit}`], { cwd: dir });
      expect(judged.stderr + judged.stdout).to.equal('');
      expect(judged.code).to.equal(0);
    });

  it('aos.service is exposed to little', async () => {
    const args = ['security', '--offline=true', `--threshold=${MOST_EXPOSED}`, './aos.service'];
    const judged = await run('systemd-analyze', args, { cwd: dir });
    expect(judged.code, judged.stdout + judged.stderr).to.equal(0);
  });
});
