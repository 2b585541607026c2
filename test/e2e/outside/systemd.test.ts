/**
 * The units of docs/examples, before systemd's own judge of them. Skipped where systemd-analyze is
 * not installed.
 */
import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectRoot } from '../../architecture/tree.js';
import { run } from '../../support/programs.js';

const EXAMPLES = join(projectRoot(), 'docs', 'examples');
const UNITS = ['aos.service', 'aos-update.service', 'aos-update.timer'];
/** What is added to a unit, by the name that it has there. */
const DROP_INS = { 'aos.service.d/recover.conf': 'aos-recover.conf' };
/**
 * Of ten, as `systemd-analyze security` counts exposure, in tenths: what it calls "OK" begins below
 * 50.
 */
const MOST_EXPOSED = 20;

describe('systemd units', function () {
  let dir: string;

  before(async function () {
    if (spawnSync('systemd-analyze', ['--version']).status !== 0) this.skip();
    dir = await mkdtemp(join(tmpdir(), 'aos-units-'));
    await mkdir(join(dir, 'aos.service.d'));
    for (const [unit, file] of [...UNITS.map((name) => [name, name] as const), ...Object.entries(DROP_INS)]) {
      const text = await readFile(join(EXAMPLES, file), 'utf8');
      // Programs of the machine that it is for; the judge looks whether they are there.
      const here = text
        .replaceAll('/usr/local/bin/update-agent', '/bin/true')
        .replaceAll('/usr/bin/node', process.execPath);
      await writeFile(join(dir, unit), here);
    }
  });
  after(() => (dir === undefined ? undefined : rm(dir, { recursive: true })));

  for (const unit of UNITS)
    it(`${unit} is valid`, async () => {
      const checked = await run('systemd-analyze', ['verify', '--man=no', `./${unit}`], { cwd: dir });
      expect(checked.stderr + checked.stdout).to.equal('');
      expect(checked.code).to.equal(0);
    });

  it('aos.service runs without the update agent, and recovers an update when the agent exists', async () => {
    const [unit, added] = await Promise.all(
      ['aos.service', 'aos-recover.conf'].map((name) => readFile(join(EXAMPLES, name), 'utf8')),
    );
    expect(unit).not.to.include('update-agent');
    expect(unit).to.match(/^Type=notify\nNotifyAccess=all\nWatchdogSec=\d+$/m);
    expect(added).to.match(/^ExecStartPre=\+\S+update-agent --action recover /m);
  });

  it('aos.service has a low exposure score in systemd-analyze security', async () => {
    const args = ['security', '--offline=true', `--threshold=${MOST_EXPOSED}`, './aos.service'];
    const checked = await run('systemd-analyze', args, { cwd: dir });
    expect(checked.code, checked.stdout + checked.stderr).to.equal(0);
  });
});
