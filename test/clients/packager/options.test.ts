/** Options of the packager. */
import { expect } from 'chai';
import { PackagerFailure } from '../../../clients/packager/packager-failure.js';
import { readSettings } from '../../../clients/packager/options.js';
import { getRejection } from '../../harness.js';

const GIVEN = ['--project', 'shop', '--publish-dir', 'build', '--dry-run'];
const read = (...more: string[]): ReturnType<typeof readSettings> => readSettings([...GIVEN, ...more], {});

describe('packager: options', () => {
  for (const percent of [0, 1, 100])
    it(`accepts a rollout of ${percent} %`, async () => {
      expect(await read('--rollout-percent', String(percent))).to.include({ rolloutPercent: percent });
    });

  for (const [option, value] of [
    ['--rollout-percent', '101'],
    ['--rollout-percent', '-1'],
    ['--rollout-percent', '1.5'],
    ['--version', '1.x'],
    ['--channel', 'Beta'],
    ['--platform', 'amiga'],
    ['--commits', '--all'],
    ['--project', '../shop'],
  ] as const)
    it(`rejects ${option}=${value}, and names the option`, async () => {
      const error = await getRejection(read(`${option}=${value}`));
      expect(error).to.be.instanceOf(PackagerFailure);
      expect(error.message).to.contain(option);
    });
});
